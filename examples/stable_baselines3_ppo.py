"""Train Stable-Baselines3's PPO beside the teammates of a population, then let it meet strangers, as PLASTIC does.

After `pip install "brdiv[examples]"` and `brdiv fit --config configs/reaching.yaml`:
`python examples/stable_baselines3_ppo.py runs/reaching-brdiv-seed0 --steps 300_000 --out ppo.png`
"""

import argparse
import time
from pathlib import Path

import torch
from matplotlib.figure import Figure
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import brdiv
from brdiv.runs import SavedPopulation
from brdiv.stable_baselines3 import TrainedLearner, vec_env
from brdiv.teamwork import LearnedPolicies, Plastic, SeveralPolicies, all_pairs, play_pairs


class Curve(BaseCallback):
    """Notes steps, seconds and the mean return of the episodes that ended in each rollout."""

    def __init__(self) -> None:
        super().__init__()
        self.points: list[tuple[int, float, float]] = []
        self.returns: list[float] = []
        self.began = time.perf_counter()

    def _on_step(self) -> bool:
        self.returns += [info["episode"]["r"] for info in self.locals["infos"] if info]
        return True

    def _on_rollout_end(self) -> None:
        if self.returns:
            mean = sum(self.returns) / len(self.returns)
            self.points.append((self.num_timesteps, time.perf_counter() - self.began, mean))
        self.returns = []


def train(run: str, game: str, steps: int, seed: int) -> tuple[PPO, Curve]:
    """Let PPO learn beside all teammates of a run."""
    env = vec_env(f"brdiv/{game}-v0", 64, teammates=run, seed=seed)
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=512, n_epochs=4, learning_rate=1e-3, ent_coef=0.01, seed=seed)
    curve = Curve()
    return model.learn(steps, callback=curve), curve


def measure(saved: SavedPopulation, model: PPO, episodes: int) -> dict[str, list[float]]:
    """Mean return of PPO and of PLASTIC with every teammate that they know and with every heuristic."""
    game = saved.game
    teammates = SeveralPolicies([LearnedPolicies(saved.population), game.heuristics()])
    learners = SeveralPolicies([TrainedLearner(model), Plastic(saved.population)])
    generator = torch.Generator().manual_seed(0)
    played = play_pairs(game, teammates, learners, all_pairs(teammates, learners), episodes, generator)
    returns = played.returns.mean(-1).view(len(teammates), len(learners))
    return dict(zip(teammates.names, returns.tolist(), strict=True))


def draw(curve: Curve, title: str, out: Path) -> None:
    """Draw the learning curve."""
    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    axes = figure.add_subplot()
    steps, _, returns = zip(*curve.points, strict=True)
    axes.plot([step / 1000 for step in steps], returns)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("thousand environment steps")
    axes.set_ylabel("mean return")
    axes.set_title(title, fontsize=9)
    figure.savefig(out, dpi=110)


def main() -> None:
    """Train, measure, and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", help="population file or run folder")
    parser.add_argument("--steps", type=lambda text: int(float(text)), default=300_000)
    parser.add_argument("--episodes", type=int, default=256)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)  # networks this small gain nothing by more, and lose much on a busy machine
    saved = brdiv.load_population(options.run)
    model, curve = train(options.run, type(saved.game).__name__, options.steps, options.seed)
    print(f"{model.num_timesteps:,} steps in {curve.points[-1][1]:.0f} s")
    returns = measure(saved, model, options.episodes)
    known = saved.population.n_types
    print(f"{'teammate':10} {'PPO':>6} {'PLASTIC':>8}")
    for name, (ppo, plastic) in returns.items():
        print(f"{name:10} {ppo:6.3f} {plastic:8.3f}")
    for what, rows in {"known": list(returns.values())[:known], "strangers": list(returns.values())[known:]}.items():
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        print(f"{what:10} {means[0]:6.3f} {means[1]:8.3f}")
    if options.out:
        draw(curve, f"{type(saved.game).__name__}: PPO beside {known} teammates", options.out)


if __name__ == "__main__":
    main()
