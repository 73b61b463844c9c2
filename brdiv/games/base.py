"""What a two-player game is: constants, pure functions of batched tensors, and all that is the game's own."""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from tensordict import TensorDict
from torch import Tensor, nn

from brdiv.games.policies import Policies
from brdiv.games.scenes import Guide, Shape, plain_guide, plain_scene
from brdiv.games.strategies import Strategies

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Playable(nn.Module, ABC):
    """Something that two seats play for one team reward; seat 0 is the teammate's, seat 1 the learner's.

    Whoever needs to know something about a game asks it here, and never what class it is. Constructor arguments are
    kept as attributes of the same name, so that a population file can say what it was made for.
    """

    n_actions: int
    observation_size: int
    horizon: int
    """Steps after which an episode is truncated; 0 where the environment itself ends every episode."""

    observation_bounds: tuple[float, float] = (-math.inf, math.inf)
    """Between which numbers everything that networks see lies."""

    view_size: int = 0
    """How many plain numbers a seat's view has; 0 where there is no view, and so nothing to draw."""

    response_steps: int = 300_000
    """Environment steps in which a best response to teammates that don't learn is found."""

    most_rows: int = 16_384
    """How many rows are played at once when many episodes are measured."""

    def settings(self) -> dict[str, Any]:
        """Constructor arguments that build this game again."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def same_as(self, other: "Playable") -> bool:
        """Whether policies of one game can play the other: the same class with the same settings."""
        return type(self) is type(other) and self.settings() == other.settings()

    def imports(self) -> str | None:
        """Name what code from outside brdiv building this game would import; None if there is none."""
        module = type(self).__module__
        return None if module.partition(".")[0] == "brdiv" else module

    def own_environment(self, pairing: Any, device: torch.device, seed: int | torch.Generator) -> Any:
        """Build the environment it is played in, where it brings its own; None where `TwoPlayerEnv` plays it."""
        return None

    def heuristics(self) -> Policies | None:
        """Build the scripted teammates, on the game's device; None if there are none."""
        return None

    def strategies(self) -> Strategies | None:
        """Build what watches episodes and tells the ways in which they are won; None where there is only one."""
        return None

    def action_names(self) -> list[str]:
        """What each action is called; by number, unless a game overrides this."""
        return [f"action {number}" for number in range(self.n_actions)]

    def observation_names(self) -> list[str]:
        """What each number means that networks see; by number, unless a game overrides this."""
        return [f"observation {number}" for number in range(self.observation_size)]

    def view_names(self) -> list[str]:
        """What each plain number of a view means; by number, unless a game overrides this."""
        return [f"view {number}" for number in range(self.view_size)]

    def draw(self, view: Sequence[int], axes: "Axes") -> None:
        """Draw seat 0's view; as numbers, eight per line, unless a game overrides this."""
        lines = [" ".join(map(str, view[start : start + 8])) for start in range(0, len(view), 8)]
        axes.text(0.5, 0.5, "\n".join(lines), ha="center", va="center", family="monospace")
        axes.axis("off")

    def text(self, view: Sequence[int]) -> str:
        """Write seat 0's view for a terminal; as numbers, unless a game overrides this."""
        return " ".join(map(str, view))

    def guide(self) -> Guide:
        """Explain the game to people who play it in a browser; hardly, unless a game overrides this."""
        return plain_guide(type(self).__name__, self.n_actions)

    def scene(self, view: Sequence[int]) -> list[Shape]:
        """Show seat 0's view in a browser; as text, unless a game overrides this."""
        return plain_scene(self.text(view).splitlines())

    def news(self, before: Sequence[int], after: Sequence[int], action: Sequence[int], reward: float) -> str:
        """Say what a step brought, from seat 0's views and both actions; nothing, unless a game overrides this."""
        return ""


class Game(Playable):
    """A game whose rules are pure functions.

    It keeps no state: every method maps tensors with a leading batch of B rows to tensors with the same. Constants are
    buffers, so `to(device)` moves the game.
    """

    view_size: int

    recordable: bool = False
    """Whether `step` and `observe` do the same operations whatever is in their tensors, so that these can be recorded
    and repeated. It holds for the class that says so, not for what is derived from it."""

    @abstractmethod
    def initial(self, rows: int, generator: torch.Generator) -> TensorDict:
        """Draw start states, a TensorDict ``[rows]``, from the generator alone."""

    @abstractmethod
    def step(self, state: TensorDict, action: Tensor) -> tuple[TensorDict, Tensor, Tensor]:
        """Apply ``action [B, 2]``: next state ``[B]``, team reward ``[B]``, game won ``[B]`` (not: time is up)."""

    @abstractmethod
    def view(self, state: TensorDict) -> Tensor:
        """Show the state as each seat sees it, itself first: integers ``[B, 2, view_size]``."""

    @abstractmethod
    def from_view(self, view: Tensor) -> TensorDict:
        """Rebuild the state ``[B]`` from ``view [B, 2, view_size]``: the inverse of `view`."""

    @abstractmethod
    def encode(self, view: Tensor) -> Tensor:
        """Turn ``view [..., view_size]`` into what networks learn well from, ``[..., observation_size]`` floats."""

    def observe(self, state: TensorDict) -> Tensor:
        """Return both seats' network input, ``[B, 2, observation_size]``."""
        return self.encode(self.view(state))


class Frame(NamedTuple):
    """One moment of an episode, as it can be drawn."""

    episode: int
    step: int
    total: float  # reward so far
    view: list[int]  # seat 0's
