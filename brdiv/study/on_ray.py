"""Cells as tasks of a Ray cluster: wherever there is room, and elsewhere when a node dies."""

import os
import socket
import time
import uuid
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from brdiv.errors import UserError
from brdiv.study.attempt import PATIENCE, POLL, Attempt
from brdiv.study.cells import FAILED, Cell, State

SHARED = "the folder of the study must be on a file system that all nodes share, under the same path"


def import_ray() -> Any:
    """Import Ray, which is an extra."""
    try:
        import ray
    except ImportError:
        raise UserError("--ray needs Ray: pip install 'brdiv[ray]'") from None
    return ray


def train_cell(cell: Cell, working_folder: str) -> State:
    """Train one cell, wherever this is: the body of a task.

    A task that is started again because its node died may find the cell's process still saving a checkpoint
    somewhere: then it waits.
    """
    os.chdir(working_folder)
    while True:
        attempt = Attempt.begin(cell)
        if isinstance(attempt, Attempt):
            return attempt.wait()
        if attempt is not None:
            return attempt
        time.sleep(POLL)


def sees(path: Path, word: str) -> str:
    """Name this node if it does not see what the study wrote to a file: the body of a task."""
    try:
        return "" if path.read_text() == word else socket.gethostname()
    except OSError:
        return socket.gethostname()


class RayPool:
    """Trains cells as tasks of a Ray cluster, as many at a time as it has room for.

    Args:
        address: Address of the cluster, or `auto`.
        folder: Folder of the study.
        cpus: Cores that each cell takes.
        gpus: GPUs, or parts of one, that each cell takes.

    """

    def __init__(self, address: str, folder: Path, cpus: int, gpus: float) -> None:
        self.ray = import_ray()
        try:
            self.ray.init(address=address, ignore_reinit_error=True, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, OSError) as error:
            raise UserError(f"--ray {address}: no cluster answers ({' '.join(str(error).split())[:200]})") from None
        self.tasks: dict[Any, Cell] = {}
        self.cpus, self.gpus = cpus, gpus
        self.check_room()
        self.check_shared(folder)
        # A task whose node dies is started again by Ray, as often as it takes; a cell that fails is no task that fails.
        self.task = self.ray.remote(num_cpus=cpus, num_gpus=gpus, max_retries=-1)(train_cell)

    @property
    def jobs(self) -> int:
        """How many cells the cluster can train at a time."""
        total = self.ray.cluster_resources()
        room = total.get("CPU", 0) // self.cpus
        return max(1, int(min(room, total.get("GPU", 0) // self.gpus) if self.gpus else room))

    def check_room(self) -> None:
        """Refuse cells that no node could ever take."""
        for node in self.alive():
            if node["Resources"].get("CPU", 0) >= self.cpus and node["Resources"].get("GPU", 0) >= self.gpus:
                return
        raise UserError(f"no node of the cluster has {self.cpus} CPUs and {self.gpus:g} GPUs for a cell")

    def check_shared(self, folder: Path) -> None:
        """Refuse a folder that some node doesn't see."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        path, word = folder / f".seen-{uuid.uuid4().hex}", uuid.uuid4().hex
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(word)
        look = self.ray.remote(num_cpus=0)(sees)
        try:
            tasks = [
                look.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote(
                    path.absolute(), word
                )
                for node in self.alive()
            ]
            blind = [name for name in self.ray.get(tasks, timeout=PATIENCE) if name]
        except self.ray.exceptions.RayError as error:
            reason = str(error).strip().splitlines()[-1]
            raise UserError(f"a node of the cluster can't run brdiv: {reason}; it must be installed there") from None
        finally:
            path.unlink()
        if blind:
            raise UserError(f"{', '.join(sorted(set(blind)))} can't see {folder.absolute()}: {SHARED}")

    def alive(self) -> list[dict[str, Any]]:
        """Nodes that answer."""
        return [node for node in self.ray.nodes() if node["Alive"]]

    @property
    def free(self) -> bool:
        """Ray itself finds out when there is room."""
        return True

    @property
    def running(self) -> Sequence[Cell]:
        """Cells that were handed over and have not ended."""
        return list(self.tasks.values())

    def start(self, cell: Cell) -> bool | State:
        """Hand a cell over."""
        there = cell._replace(folder=cell.folder.absolute())
        if cell.needs is not None:
            there = there._replace(needs=cell.needs._replace(folder=cell.needs.folder.absolute()))
        self.tasks[self.task.remote(there, os.getcwd())] = cell
        return True

    def ended(self) -> list[tuple[Cell, State]]:
        """Return cells that have ended since the last time, and how."""
        if not self.tasks:
            return []
        done, _ = self.ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=0)
        return [(cell := self.tasks.pop(task), self.outcome(task, cell)) for task in done]

    def outcome(self, task: Any, cell: Cell) -> State:
        """How a cell stands whose task has ended. If the task itself failed, that is why the cell did."""
        try:
            state: State = self.ray.get(task)
        except self.ray.exceptions.RayError as error:
            why = str(error).strip().splitlines()[-1]
            state = cell.write(replace(cell.state(), state=FAILED, why=why))
        return state

    def stop(self) -> None:
        """Interrupt all tasks, each of which has its cell save a checkpoint, then leave the cluster."""
        for task in self.tasks:
            self.ray.cancel(task)
        if self.tasks:
            self.ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=PATIENCE)
        self.tasks = {}
        self.ray.shutdown()
