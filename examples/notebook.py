"""Train a population, look at it, and let its learner meet strangers: each part is a cell of a notebook.

Run it as `python examples/notebook.py runs/notebook 4_000_000`, with the folder and the steps.
"""

# %% Train, unless that was done before
import sys
from pathlib import Path

import torch

import brdiv
from brdiv.figures import cross_play_heatmap, evaluation_heatmap
from brdiv.metrics import best_response_diversity

run = Path(sys.argv[1] if len(sys.argv) > 1 else "runs/notebook")
steps = int(float(sys.argv[2])) if len(sys.argv) > 2 else 4_000_000
if not run.exists():
    brdiv.train("reaching", data={"steps": steps}, run=str(run), threads=1)
saved = brdiv.load_population(run)

# %% Who cooperates with whom: teammates down, best responses across
matrix = saved.cross_play(episodes=64)
print(matrix, best_response_diversity(matrix))
cross_play_heatmap(matrix, "Cooperative Reaching").savefig(run / "notebook_cross_play.png", dpi=110)

# %% Watch a team
print(brdiv.play(f"{run}:1", f"{run}:1", episodes=64, out=run / "notebook_play.gif"))

# %% What does teammate 1 do when both stand in the middle?
middle = saved.game.encode(torch.tensor([2, 2, 2, 2]))
print(dict(zip(saved.game.action_names(), saved.teammate(1).probabilities(middle).tolist(), strict=True)))

# %% How well does the learner prepared with it do with strangers?
evaluation = brdiv.evaluate(run, teammates="heuristics", episodes=16)
print(evaluation.summary()[0]["mean"].value)
cells = [[evaluation.cell_estimate(method, task) for method in evaluation.methods] for task in evaluation.tasks]
figure = evaluation_heatmap(evaluation.methods, evaluation.tasks, cells, "return with strangers")
figure.savefig(run / "notebook_strangers.png", dpi=110)
