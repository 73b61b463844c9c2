"""Every setting of data, model, callbacks and Trainer as a typed argument, and what is built from them."""

import os
from pathlib import Path
from typing import Any, ClassVar

import torch
from lightning import LightningModule, Trainer
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.cli import ArgsType, LightningArgumentParser, LightningCLI, SaveConfigCallback
from lightning.pytorch.loggers import TensorBoardLogger

from brdiv.callbacks import (
    Checkpoints,
    CrossPlay,
    PlasticEvaluation,
    PopulationExport,
    RewardCheck,
    StepProgress,
    Throughput,
    TrainingReturns,
)
from brdiv.commands.line.config_checks import check_groups, check_seed, check_shares, check_trainer
from brdiv.commands.line.cores import usable_cores, use_threads, warn_if_crowded
from brdiv.commands.line.rehearsal import check_resumed
from brdiv.commands.line.settings import (
    check_precision,
    check_strategy,
    default_folder,
    wants_cross_play,
)
from brdiv.errors import UserError
from brdiv.runs import CheckpointFileError, RunFolder, find_checkpoint, is_first_process
from brdiv.runs.resume import claim_checkpoint
from brdiv.text import plain
from brdiv.training import CountedModule, RolloutData, StreamData, TeammateGenerator
from brdiv.training.memory import keep_freed_memory

USAGE = "brdiv fit --config FILE [--config FILE ...] [--key value ...]"
DESCRIPTION = """\
Train a population of teammates, each of which needs a different best response. Every setting below can stand in a
config file (shipped ones are found by name) or be given here; later ones win. --print_config shows what is used."""


GROUPS: dict[str, type] = {
    "data": RolloutData,
    "model": TeammateGenerator,
    "progress": StepProgress,
    "cross_play": CrossPlay,
    "plastic": PlasticEvaluation,
    "rewards": RewardCheck,
    "checkpoints": Checkpoints,
    "trainer": Trainer,
}
"""Classes whose settings stand in groups of their own."""

REFUSALS = (AssertionError, AttributeError, ImportError, KeyError, OverflowError, RuntimeError, TypeError, ValueError)
"""How the Trainer answers settings that it does not like."""


class TrainingCLI(LightningCLI):
    """What is linked to what, where output goes, which callbacks watch."""

    groups: ClassVar[dict[str, type]] = GROUPS
    usage = USAGE
    module_class: type[CountedModule] = TeammateGenerator
    data_class: type[StreamData] = RolloutData
    trainer_settings: ClassVar[dict[str, Any]] = {"gradient_clip_val": 1.0, "gradient_clip_algorithm": "value"}

    @staticmethod
    def subcommands() -> dict[str, set[str]]:
        """Training is all that is done through the Trainer."""
        return {"fit": {"model", "train_dataloaders", "val_dataloaders", "datamodule"}}

    def add_core_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Add our own settings first, and Lightning's hundreds after them: help is read from the top."""
        parser.description = DESCRIPTION
        parser.add_argument(
            "--run",
            type=str | None,
            default=None,
            help="Folder for all that this run writes. Default: runs/<game>-<objective>-seed<seed>, numbered if taken.",
        )
        parser.add_argument("--threads", type=int, default=2, help="Number of CPU threads that torch may use.")
        parser.add_lightning_class_args(self._datamodule_class, "data")
        parser.add_lightning_class_args(self._model_class, "model")
        parser.add_lightning_class_args(StepProgress, "progress")
        parser.add_lightning_class_args(Throughput, "throughput")
        parser.add_lightning_class_args(TrainingReturns, "training_returns")
        # The file first: whatever the last measurement may run into, the population is safe by then.
        parser.add_lightning_class_args(PopulationExport, "export")
        parser.add_lightning_class_args(CrossPlay, "cross_play")
        parser.add_lightning_class_args(PlasticEvaluation, "plastic")
        parser.add_lightning_class_args(RewardCheck, "rewards")
        parser.add_lightning_class_args(Checkpoints, "checkpoints")
        parser.add_lightning_class_args(self.trainer_class, "trainer")
        parser.set_defaults({f"trainer.{name}": value for name, value in self.trainer_defaults.items()})

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Say each value in one place only."""
        parser.link_arguments("seed_everything", "data.seed")
        parser.link_arguments("model.n_types", "data.n_types")
        parser.link_arguments("model.objective", "data.cross_play", compute_fn=wants_cross_play)
        parser.link_arguments("data.observation_size", "model.observation_size", apply_on="instantiate")
        parser.link_arguments("data.n_actions", "model.n_actions", apply_on="instantiate")

    def _parse_ckpt_path(self) -> None:
        """Leave the checkpoint's hyperparameters alone: a run resumes with the settings it is given.

        Lightning would also read the file before we have looked whether it is whole.
        """

    def parse_arguments(self, parser: LightningArgumentParser, args: ArgsType) -> None:
        """Parse, and look at what was said before any of it is used."""
        try:
            super().parse_arguments(parser, args)
        except UserError:
            raise
        except (AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise UserError(f"the settings can't be read: {plain(' '.join(str(error).split()))}") from error
        config = self.config.fit
        check_groups(config, self.groups)
        check_seed(config.seed_everything)
        check_trainer(config.trainer)
        if config.threads is None:
            raise UserError("threads is null: at least one is needed")

    def before_instantiate_classes(self) -> None:
        """Refuse what would not do what it says, and set threads before anything computes."""
        config = self.config.fit
        if config.threads < 1:
            raise UserError(f"threads is {config.threads}: at least one is needed")
        if config.trainer.max_epochs != 1:
            raise UserError(f"trainer.max_epochs is {config.trainer.max_epochs}: a run is one epoch; set data.steps")
        check_strategy(config.trainer.strategy)
        check_precision(config.trainer.precision)
        self.threads = min(config.threads, usable_cores())
        torch.set_num_threads(self.threads)
        os.environ.setdefault("OMP_NUM_THREADS", str(self.threads))  # without it, Lightning's DDP sets another number
        self.resumed: dict[str, Any] | None = None
        if config.ckpt_path is not None:
            self.find_run_to_resume(config)

    def find_run_to_resume(self, config: Any) -> None:
        """Look for the checkpoint and its folder, and check it, before anything is built."""
        wanted = str(config.ckpt_path), config.run and Path(config.run), self.default_folder(config)
        find = claim_checkpoint if is_first_process() and not config.trainer.fast_dev_run else find_checkpoint
        try:
            path, folder, self.resumed = find(*wanted)
        except CheckpointFileError as error:
            raise UserError(f"ckpt_path: {error}") from None
        config.ckpt_path, config.run, config.weights_only = str(path), str(folder), True
        # The config that the run began with stays as it is: it repeats the run from its first step.
        name = RunFolder.config_name(self.resumed["env_steps"])
        self.save_config_kwargs.update(config_filename=name, overwrite=True)

    def instantiate_classes(self) -> None:
        """Build everything. What Lightning refuses is a mistake in the settings."""
        try:
            super().instantiate_classes()
        except MisconfigurationException as error:
            raise UserError(str(error)) from None
        except ValueError as error:
            # What a class refuses that may also be null, a parser wraps into pages of its own.
            if isinstance(error, UserError) or not isinstance(error.__cause__, UserError):
                raise
            raise error.__cause__ from None

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Claim the run's folder, last of all: a refused config leaves nothing behind."""
        built = self.config_init.fit
        if built.trainer.enable_progress_bar is False:
            # Lightning refuses a progress bar of ours beside this setting instead of heeding it.
            built.trainer.enable_progress_bar = True
            built.progress.disable()
        config = self.config.fit
        if config.trainer.fast_dev_run:
            return self.build_trainer(**kwargs)
        folder = self.claim_folder(config)
        kwargs["default_root_dir"] = folder.path
        if config.trainer.logger is None:
            # What was logged after the checkpoint will be logged again: readers are told to forget it.
            purge = {} if self.resumed is None else {"purge_step": self.resumed["env_steps"] + 1}
            kwargs["logger"] = TensorBoardLogger(
                folder.path.parent, name=folder.path.name, version="", default_hp_metric=False, **purge
            )
        try:
            return self.build_trainer(**kwargs)
        except Exception:
            if self.resumed is None and is_first_process():
                folder.give_up()
            raise

    def build_trainer(self, **kwargs: Any) -> Any:
        """Build the Trainer. What it does not like is a mistake in the settings."""
        try:
            return super().instantiate_trainer(**kwargs)
        except (UserError, MisconfigurationException):
            raise
        except REFUSALS as error:
            raise UserError(f"trainer: {plain(' '.join(str(error).split()))}") from error

    def claim_folder(self, config: Any) -> RunFolder:
        """Make the run's folder, or return that of the run to resume."""
        wanted = Path(config.run) if config.run else None
        if self.resumed is not None:
            assert wanted is not None
            return RunFolder(wanted)
        if not is_first_process():  # other processes of the run write nothing
            return RunFolder(wanted or "runs")
        try:
            return RunFolder.claim(wanted, self.default_folder(config))
        except OSError as error:
            raise UserError(f"run folder {wanted or self.default_folder(config)}: {error}") from None

    def default_folder(self, config: Any) -> Path:
        """Name the folder of a run after what it trains."""
        return default_folder(config)

    def before_fit(self) -> None:
        """Refuse to resume a run that can't be, or to measure what can't be, say what will be slow, see to memory."""
        data = self.datamodule
        check_shares(self.config.fit.trainer, data.steps // (data.steps_per_update * self.trainer.world_size))
        self.check_measuring()  # Lightning would ask after it has begun a log
        if self.resumed is not None:
            self.check_resumed(self.resumed)
        if self.trainer.is_global_zero:
            use_threads(self.config.fit.threads)
            warn_if_crowded(self.threads)
        keep_freed_memory()

    def check_measuring(self) -> None:
        """Refuse to measure more than this machine can hold."""
        built = self.config_init.fit
        for measures in (built.cross_play, built.plastic):
            measures.check_room(self.model)

    def check_resumed(self, resumed: dict[str, Any]) -> None:
        """Refuse to resume a run with a checkpoint that doesn't fit, or without steps left."""
        path, data, processes = Path(self.config.fit.ckpt_path), self.datamodule, self.trainer.world_size
        try:
            check_resumed(resumed, path, self.trainer, self.model, data)
        except CheckpointFileError as error:
            raise UserError(f"ckpt_path: {error}") from None
        done, planned = resumed["env_steps"], data.planned_steps(processes)
        if done >= planned:
            raise UserError(f"ckpt_path: the run is over, {done:,} of {planned:,} steps; set data.steps higher")

    def after_fit(self) -> None:
        """Say where things are."""
        if self.trainer.is_global_zero and not self.config.fit.trainer.fast_dev_run:
            folder = RunFolder(self.trainer.default_root_dir)
            print(f"\npopulation  {folder.population}")
            print(f"picture     {folder.cross_play_picture}")
            print(f"numbers     {folder.cross_play_table}")
            print(f"logs        tensorboard --logdir {folder}")


class SaveConfig(SaveConfigCallback):
    """Writes every setting to the run's folder, whatever the logger."""

    def save_config(self, trainer: Trainer, pl_module: LightningModule, stage: str) -> None:
        """Write the file; Lightning asks the first rank alone."""
        path = RunFolder(trainer.default_root_dir).path / self.config_filename
        self.parser.save(self.config, path, skip_none=False, overwrite=self.overwrite)


class BuildOnly(TrainingCLI):
    """Builds what `brdiv fit` would run, for whoever runs it otherwise."""

    def _run_subcommand(self, subcommand: str) -> None:
        """Run nothing."""
