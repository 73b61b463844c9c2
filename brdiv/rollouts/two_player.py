"""A game with pure rules as a TorchRL environment with a native batch: B rows step in one call."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Composite, Unbounded

from brdiv.games import Game, Playable
from brdiv.rollouts.environment import Moment, RowsEnv, Step
from brdiv.rollouts.pairings import IdDraw, NoIds
from brdiv.rollouts.recorded import Recorded, Rules, is_recordable, rules_of

STARTS = 8_192  # rows to draw at a time, at least one for each row of the environment


class Start(NamedTuple):
    """Where B rows begin."""

    state: dict[str, Tensor]  # each [B, ...]
    ids: Tensor  # [B, 2]
    observation: Tensor  # [B, 2, D]


class TwoPlayerEnv(RowsEnv):
    """B rows of a game, each one stepped from the state that it is given.

    Args:
        game: The game to play.
        rows: How many rows; not needed with a pairing.
        pairing: Draws the ids of every new episode; without one all are 0.
        device: Where to play.
        seed: Seed of the environment's own random generator, or a generator to draw from.

    """

    game: Game

    def __init__(
        self,
        game: Game,
        rows: int | None = None,
        pairing: IdDraw | None = None,
        device: torch.device | str = "cpu",
        seed: int | torch.Generator = 0,
    ) -> None:
        pairing = NoIds(rows or 0) if pairing is None else pairing
        super().__init__(device=torch.device(device), batch_size=[pairing.rows])
        self.game = game.to(self.device)
        self.rows = pairing.rows
        self.pairing = pairing
        self.starts: list[Start] = []
        self.rules: Rules = rules_of(self.game)
        self.to_record = False
        if isinstance(seed, torch.Generator):
            # Whoever shares it expects that no more is drawn than is played.
            self.generator, self.block = seed, 1
        else:
            self.generator, self.block = torch.Generator(self.device), max(1, min(32, STARTS // self.rows))
            self.set_seed(seed)
        self.drawn_from = self.generator.get_state()
        # A throw-away generator: asking for shapes must not use up the environment's own randomness.
        example = game.initial(self.rows, torch.Generator(self.device))
        state = {key: Unbounded(value.shape, dtype=value.dtype) for key, value in example.items()}
        self.set_specs(game, pairing.n_types, state=Composite(state, shape=[self.rows]))

    def _set_seed(self, seed: int | None) -> None:
        if seed is not None:
            self.generator.manual_seed(seed)
            self.starts = []

    def begin(self) -> Moment:
        """Start every row anew."""
        start = self.next_start()
        clock = torch.zeros(self.rows, dtype=torch.long, device=self.device)
        return Moment(TensorDict(start.state, [self.rows]), clock, start.ids, start.observation)

    def advance(self, now: Moment, action: Tensor) -> Step:
        """Step the rules."""
        assert now.state is not None
        if self.to_record:
            self.rules, self.to_record = Recorded(self.rules, now.state, now.clock, action), False
        played = self.rules(now.state, now.clock, action)
        after = Moment(played.state, played.clock, now.ids, played.observation)
        return Step(after, played.reward, played.terminated, played.done)

    def record(self) -> None:
        """Record the rules in the next step, where that can be done: worth it for whoever plays thousands."""
        self.to_record = self.device.type == "cpu" and is_recordable(self.game)

    def renew(self, now: Moment, done: Tensor) -> Moment:
        """Merge fresh starts in where rows are done."""
        # Off the CPU, asking whether anyone is done would stall the queue.
        if done.device.type == "cpu" and not done.any():
            return now
        start = self.next_start()
        assert now.state is not None
        return Moment(
            merge(done, start.state, now.state),
            now.clock.masked_fill(done, 0),
            torch.where(done[:, None], start.ids, now.ids),
            torch.where(done[:, None, None], start.observation, now.observation),
        )

    def view(self, now: Moment) -> Tensor:
        """Ask the game."""
        assert now.state is not None
        return self.game.view(now.state)

    def next_start(self) -> Start:
        """Return a fresh start of every row.

        They are drawn several at a time: at 160 rows drawing and showing thirty takes little longer than one.
        """
        if not self.starts:
            self.drawn_from = self.generator.get_state()
            self.starts = self.draw_starts(self.block)
        return self.starts.pop(0)

    def draw_starts(self, times: int) -> list[Start]:
        """Draw so many starts at once, and take them apart as plain tensors, which a TensorDict would do slowly."""
        state = self.game.initial(times * self.rows, self.generator)
        observation = self.game.observe(state)
        ids = self.pairing.draw(self.generator, times)
        states = {name: value.unflatten(0, (times, self.rows)).unbind(0) for name, value in state.items()}
        seen = observation.unflatten(0, (times, self.rows))
        return [Start({name: states[name][t] for name in states}, ids[t], seen[t]) for t in range(times)]

    def draws(self) -> dict[str, Any]:
        """Return the generator's state before the starts in hand were drawn, and how many of those are used."""
        if not self.starts:
            return {"generator": self.generator.get_state(), "used": 0}
        return {"generator": self.drawn_from, "used": self.block - len(self.starts)}

    def load_draws(self, draws: dict[str, Any]) -> None:
        """Draw the starts in hand again, and skip those that were used."""
        self.generator.set_state(draws["generator"].cpu())
        self.starts = []
        for _ in range(draws["used"]):
            self.next_start()


def make_env(game: Playable, pairing: IdDraw, device: torch.device | str, seed: int | torch.Generator) -> RowsEnv:
    """Build the environment in which a game is played, one row for each of the pairing's.

    ``seed`` is a number, or the generator to draw from, which is then shared with whoever gave it.
    """
    own: RowsEnv | None = game.own_environment(pairing, torch.device(device), seed)
    if own is not None:
        return own
    return TwoPlayerEnv(game, pairing=pairing, device=device, seed=seed)  # type: ignore[arg-type]


def merge(done: Tensor, fresh: Mapping[str, Tensor], old: TensorDictBase) -> TensorDict:
    """Take the fresh state where ``done [B]``, the old one elsewhere."""
    entries = {
        key: torch.where(done.view(-1, *[1] * (value.dim() - 1)), fresh[key], value) for key, value in old.items()
    }
    return TensorDict(entries, old.batch_size)
