"""Windows of play of a learner, in the best response's seat, with teammates who are drawn when an episode starts."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from tensordict import TensorDict
from torch import Tensor

from brdiv.games import RESPONSE, TEAMMATE, Memory, SeatView
from brdiv.grouped import round_up
from brdiv.nets import sample
from brdiv.recurrent import RecurrentActorCritic, Seen
from brdiv.rollouts import Moment, RolloutCollector, RowsEnv
from brdiv.rollouts.collector import pack
from brdiv.teamwork import Candidate, Rotation
from brdiv.teamwork.rotation import mapped
from brdiv.training.returns import is_bootstrapped


class LearnerCollector(RolloutCollector):
    """Windows of play, TensorDicts ``[B, T]``, with all that the learner needs to learn from them.

    Beside what every window has, these are in it: `own` and `other`, what either seat did last; `start`, where an
    episode begins; `memory [B, T, M]`, what was remembered before the window, the same at each of its steps; `log_prob`
    and `value` of the policy that played; and ``("next", "value")``, what it expects of the true next observation.

    Args:
        env: The rows to play; its first ids say who sits in the teammate's seat.
        net: The learner.
        candidates: Who may sit there.
        window: Steps per row and window.
        seed: Numbers that seed the random streams.

    """

    def __init__(
        self,
        env: RowsEnv,
        net: RecurrentActorCritic,
        candidates: Sequence[Candidate],
        window: int,
        seed: Sequence[int] = (0,),
    ) -> None:
        super().__init__(env, net, window, seed)  # type: ignore[arg-type]
        self.net = net
        self.rotation = Rotation(candidates, env.rows, self.generator)
        self.view: Tensor | None = None  # [B, 2, V] of the present, where someone looks at it
        self.forget()

    def forget(self) -> None:
        """Remember nothing of any row."""
        rows, device = self.env.rows, self.env.device
        self.memory = self.net.start(rows, device)
        self.own, self.other = torch.full((2, rows), self.net.n_actions, device=device)

    def rollout(self) -> TensorDict:
        """Play one window."""
        before = self.memory
        steps = self.play()
        # Outside of inference mode, because its tensors can't be learned from.
        stacked = [torch.stack(entries, 1) for entries in zip(*steps, strict=True)]
        *common, own, other, start, log_prob, value, after = stacked
        window = pack(*common)
        window.update({"own": own, "other": other, "start": start, "log_prob": log_prob, "value": value})
        window["memory"] = before.clone()[:, None].expand(-1, self.window, -1)
        window["next", "value"] = self.next_values(window, after)
        return window

    @torch.inference_mode()
    def play(self) -> list[tuple[Tensor, ...]]:
        """Play a window step by step: what every collector notes, and what the learner went by."""
        if self.now is None:
            self.begin()
        now = self.now
        assert now is not None
        steps: list[tuple[Tensor, ...]] = []
        for _ in range(self.window):
            seen = Seen(now.observation[:, RESPONSE], self.own, self.other)
            out = self.net.step(seen, self.memory)
            action = sample(out.logits, self.generator)
            log_prob = out.logits.log_softmax(-1).gather(-1, action[:, None]).squeeze(-1)
            did = self.rotation.act(self.seen(now, TEAMMATE))
            self.rotation.watch(self.seen(now, RESPONSE), action)
            both = torch.stack([did, action], -1)
            after, reward, terminated, done = self.env.advance(now, both)
            common = (now.observation, both, now.ids, after.observation, reward, terminated, done)
            steps.append((*common, seen.own, seen.other, now.clock == 0, log_prob, out.value, out.memory))
            self.memory = out.memory.masked_fill(done[:, None], 0.0)
            self.own, self.other = (x.masked_fill(done, self.net.n_actions) for x in (action, did))
            now = self.arrive(self.env.renew(after, done), done)
        self.now = now
        return steps

    def begin(self) -> None:
        """Start an episode in every row."""
        self.forget()
        everyone = torch.ones(self.env.rows, dtype=torch.bool, device=self.env.device)
        self.now = self.arrive(self.env.begin(), everyone)

    def arrive(self, now: Moment, begun: Tensor) -> Moment:
        """Look around, and let teammates sit down in the rows that have ``begun [B]`` an episode."""
        self.view = self.env.view(now) if self.rotation.needs_view else None
        # Off the CPU, asking whether any has would stall the queue.
        if begun.device.type != "cpu" or begun.any():
            self.rotation.sit_down(now.ids[:, TEAMMATE], begun, self.seen(now, TEAMMATE))
        return now

    def seen(self, now: Moment, seat: int) -> SeatView:
        """What one seat sees."""
        return SeatView(None if self.view is None else self.view[:, seat], now.observation[:, seat])

    @torch.no_grad()
    def next_values(self, window: TensorDict, memory: Tensor) -> Tensor:
        """What is expected ``[B, T]`` after each step, with ``memory [B, T, M]`` of it.

        Within an episode that is the next step's value. Where time or the window ends, the network is asked once more,
        about the true next observation; where the game is over, nothing is expected.
        """
        ends = window["next"]
        done, truncated = ends["done"].squeeze(-1), ends["truncated"].squeeze(-1)
        wanted = is_bootstrapped(truncated)
        after = Seen(ends["agents", "observation"][..., RESPONSE, :], *window["agents", "action"].flip(-1).unbind(-1))
        asked = self.ask_where(wanted, after, memory)
        following = torch.cat([window["value"][:, 1:], asked[:, -1:]], 1)
        return torch.where(wanted, asked, following).masked_fill(done & ~truncated, 0.0)

    def ask_where(self, wanted: Tensor, seen: Seen, memory: Tensor) -> Tensor:
        """Values ``[B, T]`` of going one step on from ``memory [B, T, M]``, true where ``wanted [B, T]``."""
        flat = Seen(*(value.flatten(0, 1) for value in seen))
        remembered = memory.flatten(0, 1)
        if wanted.device.type != "cpu":  # picking the samples would stall the queue
            return self.net.step(flat, remembered).value.view(wanted.shape)
        where = wanted.flatten().nonzero().squeeze(-1)
        where = torch.cat([where, where[:1].expand(round_up(len(where)) - len(where))])
        picked = Seen(*(value.index_select(0, where) for value in flat))
        values = torch.zeros(wanted.numel())
        values[where] = self.net.step(picked, remembered.index_select(0, where)).value
        return values.view(wanted.shape)

    def state_dict(self) -> OrderedDict[str, Any]:
        """Where play stands, what the learner remembers, and what its teammates do."""
        found = super().state_dict()
        if self.now is not None and found.get("play", {}).get("now") is not None:
            found["play"]["learner"] = {
                **{name: getattr(self, name).cpu() for name in ("memory", "own", "other")},
                "teammates": mapped(lambda value: value.cpu(), self.rotation.memory),
            }
        return found

    @torch.inference_mode()
    def load_state_dict(self, state_dict: OrderedDict[str, Any], windows: int = 0) -> None:
        """Resume from there."""
        super().load_state_dict(state_dict, windows)
        if self.now is None:
            return
        device, learner = self.env.device, state_dict["play"]["learner"]
        actions = self.net.n_actions
        self.memory = like(learner["memory"], self.memory).to(device)
        self.own, self.other = (like(learner[name], getattr(self, name)).to(device) for name in ("own", "other"))
        if not all(((x >= 0) & (x <= actions)).all() for x in (self.own, self.other)):
            raise ValueError("actions that don't exist")
        teammates: list[Memory] = mapped(lambda value: value.to(device), learner["teammates"])
        self.rotation.resume(self.now.ids[:, TEAMMATE], teammates)
        self.view = self.env.view(self.now) if self.rotation.needs_view else None


def like(theirs: Any, own: Tensor) -> Tensor:
    """Return a tensor from a file if it has the shape and type of our own, and is finite."""
    if not isinstance(theirs, Tensor) or theirs.shape != own.shape or theirs.dtype != own.dtype:
        raise ValueError("a tensor of another kind")
    if not theirs.isfinite().all():
        raise ValueError("numbers that are not finite")
    return theirs
