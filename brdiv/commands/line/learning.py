"""The command line of learners: the same as that of populations, but for what is trained and who watches."""

from pathlib import Path
from typing import Any, ClassVar

from lightning import Trainer
from lightning.pytorch.cli import LightningArgumentParser

from brdiv.benchmarks.learning import LearningParts
from brdiv.callbacks import Checkpoints, LearnerEvaluation, LearnerExport, RewardCheck, StepProgress, Throughput
from brdiv.commands.line.cli import TrainingCLI
from brdiv.commands.line.settings import class_name
from brdiv.commands.line.training import make_cli
from brdiv.doors.teammates import as_list, file_of, split
from brdiv.learners import LearnerData, LearnerModule
from brdiv.runs import RunFolder, read_about

DESCRIPTION = """\
Train a learner with any mix of teammates who never change: populations, single teammates of them, heuristics. Every
setting below can stand in a config file (shipped ones are found by name) or be given here; later ones win.
--print_config shows what is used."""


class LearnerCLI(TrainingCLI):
    """What is linked to what when a learner trains, and which callbacks watch."""

    groups: ClassVar[dict[str, type]] = {
        "data": LearnerData,
        "model": LearnerModule,
        "progress": StepProgress,
        "evaluation": LearnerEvaluation,
        "rewards": RewardCheck,
        "checkpoints": Checkpoints,
        "trainer": Trainer,
    }
    usage = "brdiv learn --config FILE --teammates WHO [WHO ...] [--key value ...]"
    module_class = LearnerModule
    data_class = LearnerData
    trainer_settings: ClassVar[dict[str, Any]] = {}  # gradients are clipped where the steps are made

    def add_core_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Add our own settings first, and Lightning's hundreds after them: help is read from the top."""
        parser.description = DESCRIPTION
        parser.add_argument(
            "--run",
            type=str | None,
            default=None,
            help="Folder for all that this run writes. Default: runs/<game>-<method>-seed<seed>, numbered if taken.",
        )
        parser.add_argument("--threads", type=int, default=2, help="Number of CPU threads that torch may use.")
        parser.add_argument(
            "--teammates",
            type=str,
            nargs="+",
            default=[],
            help="Population files or run folders, FILE:3 for a single teammate, H1,H4, heuristics, or random. "
            "One teammate makes the learner its best response.",
        )
        parser.add_lightning_class_args(self._datamodule_class, "data")
        parser.add_lightning_class_args(self._model_class, "model")
        parser.add_lightning_class_args(StepProgress, "progress")
        parser.add_lightning_class_args(Throughput, "throughput")
        # The file first: whatever the last measurement may run into, the learner is safe by then.
        parser.add_lightning_class_args(LearnerExport, "export")
        parser.add_lightning_class_args(LearnerEvaluation, "evaluation")
        parser.add_lightning_class_args(RewardCheck, "rewards")
        parser.add_lightning_class_args(Checkpoints, "checkpoints")
        parser.add_lightning_class_args(self.trainer_class, "trainer")
        parser.set_defaults({f"trainer.{name}": value for name, value in self.trainer_defaults.items()})

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Say each value in one place only."""
        parser.link_arguments("seed_everything", "data.seed")
        parser.link_arguments("teammates", "data.teammates")
        parser.link_arguments("data.observation_size", "model.observation_size", apply_on="instantiate")
        parser.link_arguments("data.n_actions", "model.n_actions", apply_on="instantiate")

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Refuse strangers to tune by before there is a folder."""
        self.config_init.fit.evaluation.look_up(self.datamodule)
        return super().instantiate_trainer(**kwargs)

    def default_folder(self, config: Any) -> Path:
        """Name the folder of a run after what it trains."""
        name = f"{game_name(config)}-{class_name(config.model.method)}-seed{config.seed_everything}"
        return Path("runs", name.lower())

    def check_measuring(self) -> None:
        """Refuse to measure more than this machine can hold."""
        self.config_init.fit.evaluation.check_room(self.datamodule)

    def after_fit(self) -> None:
        """Say where things are."""
        if self.trainer.is_global_zero and not self.config.fit.trainer.fast_dev_run:
            folder = RunFolder(self.trainer.default_root_dir)
            print(f"\nlearner     {folder.learner}")
            print(f"logs        tensorboard --logdir {folder}")


class BuildLearner(LearnerCLI):
    """Builds what `brdiv learn` would run, for whoever runs it otherwise."""

    def _run_subcommand(self, subcommand: str) -> None:
        """Run nothing."""


def build_learner(arguments: list[str], run: Path, updates: int) -> LearningParts:
    """Build everything that `brdiv learn` would run, with a budget of so many updates and no output."""
    brief = ["--trainer.enable_progress_bar", "false", "--evaluation.final_episodes", "1"]
    cli = make_cli(BuildLearner, [*arguments, "--run", str(run), *brief])
    cli.datamodule.steps = cli.datamodule.steps_per_update * updates
    cli.before_fit()
    return LearningParts(cli.trainer, cli.model, cli.datamodule)


def game_name(config: Any) -> str:
    """Name the game of a run: the one that is set, or that of its teammates' files."""
    if config.data.game is not None:
        return class_name(config.data.game)
    parts = [part for entry in as_list(config.teammates) for part in split(entry)]
    files = [file for part in parts if (file := file_of(part))]
    return str(read_about(files[0])["game"]["name"]) if files else "learner"
