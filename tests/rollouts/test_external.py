import sys
import types
from typing import ClassVar

import pytest
import torch
from gymnasium import spaces
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.envs.utils import check_env_specs

from brdiv.commands import main
from brdiv.games import Policies
from brdiv.nets import Population
from brdiv.rollouts import ExternalEnv, Gymnasium, Pairing, PettingZoo, collect
from brdiv.rollouts.collector import derive_seeds
from brdiv.runs import load_population
from brdiv.teamwork import both_seats, cross_play

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed")
from pettingzoo import ParallelEnv

FORAGING = "lbforaging:Foraging-6x6-2p-3f-coop-v3"


class Echo(ParallelEnv):
    """Pays agent 0 its action, agent 1 ten times its own; ends after five steps; shows time and the agent's number."""

    metadata: ClassVar = {"name": "echo"}

    def __init__(self, n_agents=2, actions=None, views=None, time_up=False):
        self.possible_agents = [f"p{number}" for number in range(n_agents)]
        self.agents = self.possible_agents
        self.actions = actions or [spaces.Discrete(3)] * n_agents
        self.views = views or [spaces.Box(0, 10, (2,))] * n_agents
        self.time_up = time_up

    def observation_space(self, agent):
        return self.views[self.possible_agents.index(agent)]

    def action_space(self, agent):
        return self.actions[self.possible_agents.index(agent)]

    def show(self):
        return {agent: [float(self.time), float(number)] for number, agent in enumerate(self.possible_agents)}

    def reset(self, seed=None, options=None):
        self.time, self.agents = 0, list(self.possible_agents)
        return self.show(), {agent: {} for agent in self.agents}

    def step(self, actions):
        self.time += 1
        rewards = {agent: float(actions[agent]) * 10**number for number, agent in enumerate(self.possible_agents)}
        over, early = self.time == 5, dict.fromkeys(self.agents, False)
        ended = dict.fromkeys(self.agents, over)
        ends = (early, ended) if self.time_up else (ended, early)
        return self.show(), rewards, *ends, {agent: {} for agent in self.agents}


@pytest.fixture(autouse=True)
def _echo_module():
    module = types.ModuleType("echo_games")
    module.parallel_env = Echo
    sys.modules["echo_games"] = module
    yield
    del sys.modules["echo_games"]


def rollout(game, rows=4, steps=12, seed=0):
    env = ExternalEnv(game, Pairing(2, rows // 2, rows - rows // 2), seed=seed)
    generator = torch.Generator().manual_seed(0)

    def policy(tensordict):
        action = torch.randint(game.n_actions, (rows, 2), generator=generator)
        return tensordict.set(("agents", "action"), action)

    return env.rollout(steps, policy, break_when_any_done=False)


def test_specs_describe_what_comes_out():
    check_env_specs(ExternalEnv(PettingZoo("echo_games"), Pairing(2, 1, 2)))


def test_rewards_are_summed_or_averaged_over_the_team():
    for how, share in (("sum", 1.0), ("mean", 0.5)):
        played = rollout(PettingZoo("echo_games", team_reward=how))
        first, second = played["agents", "action"].unbind(-1)
        assert torch.allclose(played["next", "reward"].squeeze(-1), share * (first + 10.0 * second))


def test_bounded_observations_are_scaled():
    played = rollout(PettingZoo("echo_games"))
    assert torch.allclose(played["agents", "observation"][0, :3, 0], torch.tensor([[0, 0], [0.1, 0], [0.2, 0]]))
    assert torch.allclose(played["next", "agents", "observation"][0, 4, 1], torch.tensor([0.5, 0.1]))


def test_ends_and_time_limits_are_told_apart():
    ended = rollout(PettingZoo("echo_games"))["next"]
    assert ended["terminated"][0, :, 0].nonzero().flatten().tolist() == [4, 9]
    assert not ended["truncated"].any()
    late = rollout(PettingZoo("echo_games", {"time_up": True}))["next"]
    assert late["truncated"][0, :, 0].nonzero().flatten().tolist() == [4, 9]
    assert not late["terminated"].any()
    cut = rollout(PettingZoo("echo_games", horizon=3))["next"]
    assert cut["truncated"][0, :, 0].nonzero().flatten().tolist() == [2, 5, 8, 11]


def test_ids_last_an_episode():
    played = rollout(PettingZoo("echo_games"), rows=64)
    ids = played["ids"]
    assert (ids[:, :5] == ids[:, :1]).all()
    assert not (ids[:, 5] == ids[:, 4]).all()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"n_agents": 3}, "has 3 agents; two are needed"),
        ({"actions": [spaces.Box(0, 1, (2,))] * 2}, "only one discrete action"),
        ({"actions": [spaces.Discrete(2), spaces.Discrete(3)]}, "different actions"),
        ({"views": [spaces.Box(0, 1, (2,)), spaces.Box(0, 1, (3,))]}, "different spaces"),
        ({"views": [spaces.Dict({"a": spaces.Discrete(2)})] * 2}, "only boxes of numbers"),
        ({"wind": 3}, "unexpected keyword argument 'wind'"),
    ],
)
def test_environments_that_do_not_fit_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        PettingZoo("echo_games", arguments)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: PettingZoo("no_such_module"), "can't be imported"),
        (lambda: PettingZoo("json"), "has no parallel_env"),
        (lambda: Gymnasium("NoSuchThing-v0"), "NoSuchThing"),
        (lambda: Gymnasium("CartPole-v1"), "for one agent"),
        (lambda: Gymnasium("lbforaging:Foraging-6x6-3p-3f-coop-v3"), "has 3 agents"),
        (lambda: PettingZoo("echo_games", horizon=-1), "horizon is -1"),
    ],
)
def test_what_is_not_there_or_not_for_two_is_refused(make, complaint):
    with pytest.raises(ValueError, match=complaint):
        make()


def test_lbforaging_is_played_with_its_own_rules():
    game = Gymnasium(FORAGING, {"max_episode_steps": 1000}, horizon=20)
    assert (game.n_actions, game.observation_size) == (6, 15)
    played = rollout(game, rows=6, steps=45)
    assert played["agents", "observation"].min() >= 0
    assert played["agents", "observation"].max() <= 1
    assert played["next", "truncated"].sum() == 12
    assert (played["next", "clock"].max(), played["clock"].max()) == (20, 19)


def test_same_seed_same_rollout():
    game = Gymnasium(FORAGING)
    first, again, other = rollout(game, seed=3), rollout(game, seed=3), rollout(game, seed=4)
    keys = list(first.keys(include_nested=True, leaves_only=True))
    assert all(torch.equal(first[key], again[key]) for key in keys)
    assert not torch.equal(first["agents", "observation"], other["agents", "observation"])


def test_copies_in_other_processes_play_by_the_same_rules():
    game = Gymnasium(FORAGING, {"max_episode_steps": 1000}, horizon=5, processes=2)
    played = rollout(game, rows=4)
    assert played["next", "truncated"][:, :, 0].nonzero().tolist() == [[row, t] for row in range(4) for t in (4, 9)]
    assert len(played["agents", "observation"][:, 0].flatten(1).unique(dim=0)) == 4, "every copy has a start of its own"


def test_rows_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="5 rows can't be shared out evenly among 2 processes"):
        ExternalEnv(PettingZoo("echo_games", processes=2), Pairing(2, 2, 3))


def test_cross_play_counts_whole_episodes(generator):
    class Always(Policies):
        """Policy k always does action k."""

        names = ("zero", "one", "two")

        def act(self, which, seen, memory, generator):
            return which.clone()

    played = cross_play(PettingZoo("echo_games"), Always(), Always(), 40, generator)
    assert (played.lengths == 5).all()
    i, j = torch.meshgrid(torch.arange(3), torch.arange(3), indexing="ij")
    assert torch.equal(played.returns, (5 * (i + 10.0 * j))[..., None].expand(3, 3, 40))


def test_the_collector_takes_them():
    actor = Population(2, 2, 3, [4])
    collector = collect(PettingZoo("echo_games"), Pairing(2, 4, 4), actor, 8, torch.device("cpu"), [0, 0])
    window = next(iter(collector))
    assert window.batch_size == (8, 8)


@pytest.mark.parametrize("config", ["lbforaging", "spread"])
def test_brdiv_trains_on_them_by_config_alone(config, tmp_path):
    run = tmp_path / "run"
    small = ["--model.hidden", "[16]", "--data.self_play_rows", "2", "--data.cross_play_rows", "2", "--threads", "1"]
    quick = ["--data.steps", "128", "--cross_play.final_episodes", "1", "--run", str(run)]
    main(["fit", "--config", f"examples/{config}", *small, *quick])
    assert load_population(run / "population.safetensors", allow_imports=True).game.n_actions in {5, 6}


def test_copies_in_other_processes_are_measured_whatever_their_number(generator):
    """Three types and one episode of each pair are nine rows, which two processes can't share evenly."""
    game = Gymnasium(FORAGING, {"max_episode_steps": 1000}, horizon=3, processes=2)
    population = Population(3, game.observation_size, game.n_actions, [4])
    assert cross_play(game, *both_seats(population), 1, generator).lengths.tolist() == [[[3]] * 3] * 3


def test_how_many_processes_play_makes_no_other_game():
    assert PettingZoo("echo_games", processes=2).same_as(PettingZoo("echo_games"))
    assert not PettingZoo("echo_games", horizon=3).same_as(PettingZoo("echo_games"))


class Leaver(Echo):
    """Its second agent leaves after two steps."""

    def step(self, actions):
        views, rewards, terminated, truncated, infos = super().step(actions)
        if self.time == 2:
            terminated["p1"] = True
            self.agents = ["p0"]
        return views, rewards, terminated, truncated, infos


def test_when_one_agent_leaves_the_episode_is_over_for_the_team():
    sys.modules["echo_games"].parallel_env = Leaver
    played = rollout(PettingZoo("echo_games"))["next"]
    assert played["terminated"][0, :, 0].nonzero().flatten().tolist() == [1, 3, 5, 7, 9, 11]


def test_windows_are_those_of_torchrls_collector():
    torch.manual_seed(0)
    game, population = Gymnasium(FORAGING, horizon=5), Population(3, 15, 6, [8], gain=2.0)
    env_seed, action_seed = derive_seeds([4])
    generator = torch.Generator()

    def act(observation, ids):
        return population.act(observation, ids, generator)

    policy = TensorDictModule(act, in_keys=[("agents", "observation"), "ids"], out_keys=[("agents", "action")])
    theirs = Collector(ExternalEnv(game, Pairing(3, 2, 2), seed=env_seed), policy, frames_per_batch=32,
                       total_frames=-1, auto_register_policy_transforms=False, track_traj_ids=False)  # fmt: skip
    generator.manual_seed(action_seed)  # it tries the policy once when it is built
    ours = collect(game, Pairing(3, 2, 2), population, 8, torch.device("cpu"), [4])
    for got, expected, _ in zip(ours, theirs, range(3), strict=False):
        for key in [("agents", "observation"), ("agents", "action"), "ids", ("next", "reward"), ("next", "done")]:
            assert torch.equal(got[key], expected[key]), key
