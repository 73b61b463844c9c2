"""A game as a TorchRL environment with a native batch: B rows step in one call, each keeping its pair of ids."""

from typing import Any, Protocol

import torch
from tensordict import TensorDict, TensorDictBase
from torch import Tensor
from torchrl.data import Binary, Categorical, Composite, Unbounded
from torchrl.envs import EnvBase

from brdiv.envs.game import Game

STARTS = 8_192  # rows to draw at a time, at least one for each row of the environment


class IdDraw(Protocol):
    """Draws the ids of new episodes."""

    n_types: int
    rows: int

    def draw(self, generator: torch.Generator, times: int = 1) -> Tensor:
        """Draw ``ids [times, rows, 2]``."""
        ...


class TwoPlayerEnv(EnvBase):
    """B rows of a game behind TorchRL's interface, after its multi-agent key convention.

    Keys: ``("agents", "observation") [B, 2, D]``, ``("agents", "action") [B, 2]``, ``state [B]`` (all there is to know,
    so recorded play can be put back), ``ids [B, 2]``, and ``clock``, ``reward``, ``done``, ``terminated``,
    ``truncated``, each ``[B, 1]``. `terminated` means that the task is done, `truncated` that time is up before it was.

    Randomness comes from one generator of its own. A pairing draws ids when an episode starts; without one all are 0.
    """

    def __init__(
        self,
        game: Game,
        rows: int | None = None,
        pairing: IdDraw | None = None,
        device: torch.device | str = "cpu",
        seed: int = 0,
    ) -> None:
        rows = pairing.rows if pairing is not None else rows
        if rows is None or rows < 1:
            raise ValueError(f"rows is {rows}: give a pairing, or at least one row")
        super().__init__(device=torch.device(device), batch_size=[rows])
        self.game = game.to(self.device)
        self.rows = rows
        self.pairing = pairing
        self.generator = torch.Generator(self.device)
        self.block = max(1, min(32, STARTS // rows))
        self.starts: list[TensorDict] = []
        self.drawn_from = self.generator.get_state()
        self.set_seed(seed)
        # A throw-away generator: asking for shapes must not use up the environment's own randomness.
        example = game.initial(rows, torch.Generator(self.device))
        state = {key: Unbounded(value.shape, dtype=value.dtype) for key, value in example.items()}
        n_types = pairing.n_types if pairing is not None else 1
        set_specs(self, game.observation_size, game.n_actions, n_types, state=Composite(state, shape=[rows]))

    def _set_seed(self, seed: int | None) -> None:
        if seed is not None:
            self.generator.manual_seed(seed)
            self.starts = []

    def fresh(self) -> TensorDict:
        """Start every row anew: ``state [B]``, ``ids [B, 2]`` and ``observation [B, 2, D]``.

        Starts are drawn several at a time: at 160 rows drawing and showing thirty takes little longer than one.
        """
        if not self.starts:
            self.drawn_from = self.generator.get_state()
            self.starts = list(self._draw(self.block).unbind(0))
        return self.starts.pop(0)

    def _draw(self, times: int) -> TensorDict:
        """Draw starts ``[times, B]``."""
        state = self.game.initial(times * self.rows, self.generator)
        observation = self.game.observe(state)
        if self.pairing is not None:
            ids = self.pairing.draw(self.generator, times).flatten(0, 1)
        else:
            ids = torch.zeros(times * self.rows, 2, dtype=torch.long, device=self.device)
        starts = TensorDict({"state": state, "ids": ids, "observation": observation}, [times * self.rows])
        return starts.view(times, self.rows)

    def draws(self) -> dict[str, Any]:
        """Where the random draws stand, in plain values: the generator before the starts in hand, how many are used."""
        if not self.starts:
            return {"generator": self.generator.get_state(), "used": 0}
        return {"generator": self.drawn_from, "used": self.block - len(self.starts)}

    def load_draws(self, draws: dict[str, Any]) -> None:
        """Go on drawing from there."""
        self.generator.set_state(draws["generator"].cpu())
        self.starts = []
        for _ in range(draws["used"]):
            self.fresh()

    def _reset(self, tensordict: TensorDictBase | None = None, **kwargs: object) -> TensorDict:
        """Start every row anew. On a partial reset TorchRL keeps the fresh values of the masked rows alone."""
        fresh = self.fresh()
        flag = torch.zeros(self.rows, 1, dtype=torch.bool, device=self.device)
        clock = torch.zeros(self.rows, 1, dtype=torch.long, device=self.device)
        flags = {"done": flag, "terminated": flag.clone(), "truncated": flag.clone()}
        return self._pack(fresh["state"], fresh["observation"], clock, fresh["ids"], **flags)

    def _step(self, tensordict: TensorDictBase) -> TensorDict:
        state, reward, finished = self.game.step(tensordict["state"], tensordict["agents", "action"])
        clock = tensordict["clock"] + 1
        terminated, truncated = self.ends(finished, clock)
        return self._pack(
            state,
            self.game.observe(state),
            clock,
            tensordict["ids"],
            reward=reward[:, None],
            done=terminated | truncated,
            terminated=terminated,
            truncated=truncated,
        )

    def ends(self, finished: Tensor, clock: Tensor) -> tuple[Tensor, Tensor]:
        """Tell the task done from time up, each ``[B, 1]``, for ``finished [B]`` at ``clock [B, 1]``."""
        terminated = finished[:, None]
        return terminated, (clock >= self.game.horizon) & ~terminated

    def _pack(self, state: TensorDict, observation: Tensor, clock: Tensor, ids: Tensor, **flags: Tensor) -> TensorDict:
        agents = TensorDict({"observation": observation}, [self.rows, 2], device=self.device)
        entries = {"agents": agents, "state": state, "clock": clock, "ids": ids, **flags}
        return TensorDict(entries, [self.rows], device=self.device)


def set_specs(env: EnvBase, observation_size: int, n_actions: int, n_types: int, **further: Composite) -> None:
    """Give an environment the specs of two players with ids and a clock, and of what else it shows."""
    (rows,) = env.batch_size
    env.observation_spec = Composite(
        agents=Composite(observation=Unbounded((rows, 2, observation_size)), shape=[rows, 2]),
        clock=Unbounded((rows, 1), dtype=torch.long),
        ids=Categorical(n_types, shape=(rows, 2)),
        **further,
        shape=[rows],
        device=env.device,
    )
    env.action_spec = Composite(
        agents=Composite(action=Categorical(n_actions, shape=(rows, 2)), shape=[rows, 2]),
        shape=[rows],
        device=env.device,
    )
    env.reward_spec = Composite(reward=Unbounded((rows, 1)), shape=[rows], device=env.device)
    flags = {name: Binary(1, shape=(rows, 1), dtype=torch.bool) for name in ("done", "terminated", "truncated")}
    env.done_spec = Composite(flags, shape=[rows], device=env.device)
