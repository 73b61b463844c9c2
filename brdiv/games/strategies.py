"""What counts as a strategy: a game watches an episode, and tells in which of several ways it was won."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from torch import Tensor


class Strategies(ABC):
    """Watches R episodes from their first view to their last, and tells by which strategy each was won."""

    names: Sequence[str]
    """What each strategy is called, in words that a person understands."""

    @abstractmethod
    def watch(self, view: Tensor, running: Tensor) -> None:
        """See ``view [R, 2, V]``, before the first step and after every one; only ``running [R]`` episodes count."""

    @abstractmethod
    def found(self) -> Tensor:
        """Say by which of the named strategies each episode was won, ``[R]``; -1 where it was not."""
