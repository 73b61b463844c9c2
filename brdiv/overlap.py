"""Collect the next window in a process of its own while this one learns: faster, and one update off-policy."""

import atexit
import copy
import signal
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

import torch
from tensordict import TensorDictBase
from torch import multiprocessing
from torchrl.collectors import BaseCollector

from brdiv.nets import Population

Make = Callable[[Population, list[int]], BaseCollector]
"""Builds the collector that plays a population's windows, for a seed."""


class OverlappedCollector(BaseCollector):
    """Gives the windows of another collector, which plays one ahead, on one CPU thread.

    A window is played with the weights from before the update that is learning meanwhile. Windows live in two buffers
    of shared memory: one is learned from, the other is written. Episodes can't be put back where they were.

    Args:
        make: Builds the collector to run; it is sent to the other process.
        population: Whose weights play.
        seed: Of the collector.
        device: Where windows are wanted.

    """

    def __init__(self, make: Make, population: Population, seed: list[int], device: torch.device) -> None:
        super().__init__()
        self.make = make
        self.population = population
        self.seed = seed
        self.device = device
        self.playing = copy.deepcopy(population).cpu().share_memory()
        self.worker: SpawnProcess | None = None
        self.connection: Connection | None = None

    def iterator(self) -> Iterator[TensorDictBase]:
        """Start the process, and give window after window."""
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        # It ends when this process does, however that ends, because then the pipe is closed. Python waits for it on
        # the way out, so the pipe must be closed before that.
        self.worker = context.Process(target=work, args=(theirs, self.make, self.playing, self.seed), daemon=True)
        self.worker.start()
        theirs.close()
        atexit.register(self.shutdown)
        try:
            self.request()
            buffers = self.receive()
            turn = 0
            while True:
                self.request()
                yield buffers[turn].to(self.device)
                turn = 1 - turn
                self.receive()
        finally:
            self.shutdown()

    def request(self) -> None:
        """Ask for a window by the weights of this moment. The other process is waiting, so nobody reads them."""
        assert self.connection is not None
        with torch.no_grad():
            for playing, learning in zip(self.playing.parameters(), self.population.parameters(), strict=True):
                playing.copy_(learning)
        with self.telling_of_its_death():
            self.connection.send(True)

    def receive(self) -> Any:
        """Wait for a window, but not for a process that is gone."""
        assert self.connection is not None
        assert self.worker is not None
        with self.telling_of_its_death():
            while not self.connection.poll(1.0):
                if not self.worker.is_alive():
                    raise EOFError
            answer, error = self.connection.recv()
        if error:
            raise RuntimeError(f"the collecting process failed:\n{error}")
        return answer

    @contextmanager
    def telling_of_its_death(self) -> Iterator[None]:
        """Say so where the pipe is broken because the process at its other end is gone."""
        try:
            yield
        except (EOFError, OSError):
            assert self.worker is not None
            self.worker.join(5)
            raise RuntimeError(f"the collecting process died (exit code {self.worker.exitcode})") from None

    def set_seed(self, seed: int, static_seed: bool = False) -> int:
        """Seed the collector, before it starts."""
        self.seed = [seed]
        return seed

    def shutdown(self, timeout: float | None = None, close_env: bool = True, raise_on_error: bool = True) -> None:
        """Stop the process."""
        if self.worker is not None and self.connection is not None:
            self.connection.close()
            self.worker.join(timeout or 5)
            if self.worker.is_alive():
                self.worker.kill()
        self.worker = self.connection = None
        atexit.unregister(self.shutdown)

    def state_dict(self) -> Any:
        """Nothing that could be put back."""
        return {}

    def load_state_dict(self, state_dict: Any) -> None:
        """Start new episodes."""


def work(connection: Connection, make: Make, population: Population, seed: list[int]) -> None:
    """Play a window whenever asked to, until the other end is closed."""
    for signum in (signal.SIGINT, signal.SIGTERM):  # often sent to all processes, but the one that learns answers them
        signal.signal(signum, signal.SIG_IGN)
    torch.set_num_threads(1)
    try:
        windows = iter(make(population, seed))
        connection.recv()
        first = next(windows)
        buffers = [first.clone().share_memory_(), first.clone().share_memory_()]
        connection.send((buffers, None))
        turn = 1
        while connection.recv():
            buffers[turn].update_(next(windows))
            turn = 1 - turn
            connection.send((None, None))
    except (EOFError, OSError):
        return
    except BaseException:
        connection.send((None, traceback.format_exc()))
