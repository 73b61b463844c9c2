"""Which library multiplies matrices on the CPU: the fastest of those that compute in full float32, by measurement.

Torch's own choice is BLAS, mostly MKL, which makes no use of AVX-512 on AMD's processors; oneDNN does, and takes half
of the time there. But what sends float32 products to oneDNN is a setting that *allows* it to round to bfloat16, which
it does on processors that have instructions for that. So both are measured, on this machine and this run's networks.

oneDNN also does more around each product, which counts where products are small. To play, one step of all rows at a
time, small networks take less time with BLAS, while they learn faster with oneDNN; then a run uses both.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from brdiv.errors import UserError
from brdiv.nets import Critic, Population

WAYS = {"blas": "ieee", "onednn": "bf16"}
"""Ways to multiply, and the setting of `torch.backends.mkldnn.matmul.fp32_precision` that leads there."""

SETTING: Any = getattr(torch.backends.mkldnn, "matmul", None)  # which earlier versions of torch don't have

NAMES = {"blas": "BLAS", "onednn": "oneDNN", "both": "oneDNN, in play by BLAS"}

USES = {"blas": ("blas", "blas"), "onednn": ("onednn", "onednn"), "both": ("onednn", "blas")}
"""What a run may use: a way to learn, and a way to play."""

EXACT = 2.0  # errors may be so many times those of BLAS: rounding in another order is allowed, fewer digits are not
WORTH_IT = 1.5  # how many times as fast as BLAS another way must be: nearer to 1, chance would decide, and a seed
# would not always give the same run. Networks of 128 neurons gain 2 to 3 times where there is something to gain.
WORTH_IT_IN_PLAY = (
    1.25  # the same for play. Networks of 64 neurons gain nothing there when nothing else is computed, and
)
# lose in a run, where other code comes in between; those of 128 gain 1.5 times.
ROWS, STEPS = 160, 8  # no larger a window is timed: it would take long, and says no more
ROUNDS = 9

now = time.perf_counter if sys.platform == "win32" else time.process_time
"""Seconds of computing, because others who use the machine, too, must not decide. Windows counts them too coarsely."""


class Measured(NamedTuple):
    """What a way to multiply is like on this machine."""

    error: float  # largest difference from the product in float64, as a share of the largest entry
    seconds: float  # of forward and backward through a run's networks on one window
    play_seconds: float  # of forward through its actors on one step


def available() -> list[str]:
    """Ways that this build of torch offers; BLAS is always one."""
    return list(WAYS) if torch.backends.mkldnn.is_available() and SETTING is not None else ["blas"]


def is_available(use: str) -> bool:
    """Whether this build of torch offers all that a use needs."""
    return set(USES[use]) <= set(available())


@contextmanager
def multiplied(way: str) -> Iterator[None]:
    """Multiply that way for a while."""
    if len(available()) == 1:
        yield
        return
    before = SETTING.fp32_precision
    SETTING.fp32_precision = WAYS[way]
    try:
        yield
    finally:
        SETTING.fp32_precision = before


def measure(population: Population, critic: Critic, rows: int, window: int) -> dict[str, Measured]:
    """Measure every way on networks of this run's sizes, in turn; some 100 ms for those of the paper."""
    generator = torch.Generator().manual_seed(0)
    shape = (min(rows, ROWS), min(window, STEPS), 2)
    observation = torch.rand(*shape, population.observation_size, generator=generator)
    ids = torch.randint(population.n_types, shape, generator=generator)
    seconds: dict[str, list[tuple[float, float]]] = {way: [] for way in available()}
    errors = {way: largest_error(way, population, generator) for way in seconds}
    for _ in range(1 + ROUNDS):  # the first to warm up: oneDNN builds a kernel for every shape
        for way, times in seconds.items():
            with multiplied(way):
                learning = time_learning(population, critic, observation, ids)
                times.append((learning, time_play(population, observation, ids)))
    return {way: Measured(errors[way], *map(min, zip(*times[1:], strict=True))) for way, times in seconds.items()}


def time_learning(population: Population, critic: Critic, observation: Tensor, ids: Tensor) -> float:
    """Seconds of forward and backward of actors and critic."""
    began = now()
    with torch.enable_grad():
        outcome = population(observation, ids).mean() + critic(observation, ids).mean()
        torch.autograd.grad(outcome, [*population.parameters(), *critic.parameters()])
    return now() - began


@torch.inference_mode()
def time_play(population: Population, observation: Tensor, ids: Tensor) -> float:
    """Seconds in which actors play a step, on average over a window's."""
    began = now()
    for step in range(observation.shape[1]):
        population(observation[:, step], ids[:, step])
    return (now() - began) / observation.shape[1]


def largest_error(way: str, population: Population, generator: torch.Generator) -> float:
    """Largest error of forward and backward products of the population's layers on random matrices."""
    errors = []
    for layer in population.layers:
        weight: nn.Parameter = layer.weight  # type: ignore[assignment]
        n_in, n_out = weight.shape[1:]
        x, w = (torch.randn(size, generator=generator) for size in ((2, 64, n_in), (2, n_in, n_out)))
        gradient = torch.randn(2, 64, n_out, generator=generator)
        with multiplied(way):
            errors += [error_of(x, w), error_of(gradient, w.mT), error_of(x.mT, gradient)]
    return max(errors)


def error_of(a: Tensor, b: Tensor) -> float:
    """Largest error of the product ``a @ b`` as a share of its largest entry."""
    exact = a.double() @ b.double()
    return float((torch.bmm(a, b) - exact).abs().max() / exact.abs().max())


def fastest(measured: dict[str, Measured]) -> str:
    """Name the fastest use of ways that are as exact as BLAS; BLAS alone where none is clearly faster."""
    blas, onednn = measured["blas"], measured.get("onednn")
    if onednn is None or onednn.error > EXACT * blas.error or onednn.seconds * WORTH_IT > blas.seconds:
        return "blas"
    return "onednn" if onednn.play_seconds * WORTH_IT_IN_PLAY < blas.play_seconds else "both"


class Products:
    """How a run multiplies: measured when it begins, and kept when it is resumed.

    Another library rounds in another order, so a run that changed it would differ in last digits and then in
    everything. Off the CPU there is nothing to choose.
    """

    def __init__(self, by: str = "auto") -> None:
        if by not in {"auto", *USES}:
            *first, last = USES
            raise UserError(f"products is {by}: it must be auto, {', '.join(first)} or {last}")
        if by != "auto" and not is_available(by):
            raise UserError(f"products is {by}: this build of torch has only {', '.join(available())}")
        self.by = by
        self.chosen: str | None = None if by == "auto" else by
        self.in_use = ExitStack()

    def resume(self, chosen: Any) -> None:
        """Keep to what was chosen before, where this machine has it and the user names no other."""
        if self.by == "auto" and chosen in USES and is_available(chosen):
            self.chosen = chosen

    def is_open(self) -> bool:
        """Whether nothing is chosen yet."""
        return self.chosen is None

    def start(self, chosen: str | None = None) -> None:
        """Multiply that way, or as chosen before, until `stop`."""
        self.chosen = chosen or self.chosen
        assert self.chosen is not None
        self.in_use.enter_context(multiplied(USES[self.chosen][0]))

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Multiply for a while as is fastest for small products. An update of Reaching as shipped takes 7 % less."""
        with multiplied(USES[self.chosen][1]) if self.chosen == "both" else nullcontext():
            yield

    def stop(self) -> None:
        """Leave torch as it was."""
        self.in_use.close()


def described(measured: dict[str, Measured], chosen: str) -> str:
    """One line on how the ways compare."""
    ways = ", ".join(
        f"{NAMES[way]} {1000 * m.seconds:.1f} ms, in play {1000 * m.play_seconds:.2f} (error {m.error:.0e})"
        for way, m in measured.items()
    )
    return f"matrices are multiplied by {NAMES[chosen]}: {ways}"
