"""Small learners and windows of play for tests."""

import torch

from brdiv.commands import main
from brdiv.games import shipped_games
from brdiv.learners import LearnerData
from brdiv.recurrent import RecurrentActorCritic

UPDATE = 8 * 6
SMALL = ["--model.hidden", "[8]", "--model.memory", "8", "--data.rows", "8", "--data.window", "6", "--threads", "1"]


def small_net(game, seed=0):
    """A network with habits."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = RecurrentActorCritic(game.observation_size, game.n_actions, [8], 8)
        for parameter in net.parameters():
            parameter.data += 0.3 * torch.randn_like(parameter)
        return net


class Wiring:
    """What a data module asks of a module."""

    def __init__(self, net):
        self.net = net


def collector_of(teammates, name="Reaching", rows=8, window=6, seed=0, net=None, **settings):
    """A collector with a small learner; short episodes, so that windows have several."""
    game = shipped_games()[name](**{"horizon": 5, **settings})
    data = LearnerData(teammates, game=game, rows=rows, window=window, steps=rows * window, seed=seed)
    return data.collect(Wiring(net or small_net(game)), torch.device("cpu"), [seed])


def learn(run, *arguments, teammates=("H1,H4",), game="Reaching", steps=UPDATE * 4, config="learners/ppo"):
    """Train a small learner into the folder ``run``, which is given back."""
    options = ["--config", config, *SMALL, "--teammates", *teammates, "--data.game", game]
    options += ["--data.steps", str(steps), "--evaluation.final_episodes", "2", "--trainer.log_every_n_steps", "1"]
    main(["learn", *options, "--run", str(run), *arguments])
    return run
