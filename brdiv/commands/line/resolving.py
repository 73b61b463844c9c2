"""Settings of a run as they come out of configs and options, checked by building what they describe."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from brdiv.commands.line.cli import BuildOnly
from brdiv.commands.line.learning import BuildLearner
from brdiv.commands.line.training import make_cli
from brdiv.study.settings import Resolved
from brdiv.training.products import fastest, measure

COPIES = 4  # of the weights in a checkpoint: themselves, the target critic, and Adam's two moments


class CheckOnly(BuildOnly):
    """Builds all but the Trainer, and so writes nothing."""

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Build none."""
        return None


class CheckLearner(BuildLearner):
    """Builds a learner, all but the Trainer, and so writes nothing."""

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Build none, but look up the strangers to tune by."""
        self.config_init.fit.evaluation.look_up(self.datamodule)


def resolve(command: str, arguments: Sequence[str], overrides: Mapping[str, Any], kept: Mapping[str, Any]) -> Resolved:
    """Resolve options of `brdiv fit` or `brdiv learn`, with further settings on top.

    Which library multiplies is chosen now, or was before, where that is left to the machine: a cell that is killed
    before its first checkpoint must not choose again when it is started anew.
    """
    with tempfile.TemporaryDirectory() as folder:
        further = Path(folder, "overrides.yaml")
        further.write_text(yaml.safe_dump(dict(overrides)))
        kind = CheckLearner if command == "learn" else CheckOnly
        cli: Any = make_cli(kind, [*arguments, *(["--config", str(further)] if overrides else [])])
    settings = yaml.safe_load(cli._parser("fit").dump(cli.config.fit, skip_none=False))
    data, module = cli.datamodule, cli.model
    weights = sum(weight.numel() for weight in module.state_dict().values())
    if command == "learn":
        return Resolved(settings, module.method.label, data.planned_steps(1), 4 * COPIES * weights)
    if settings["model"]["products"] == "auto":
        chosen = kept.get("model", {}).get("products")
        measured = {} if chosen else measure(module.population, module.critic, data.pairing.rows, data.window)
        settings["model"]["products"] = chosen or fastest(measured)
    return Resolved(settings, module.objective.label, data.planned_steps(1), 4 * COPIES * weights)
