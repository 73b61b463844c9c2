"""`brdiv fit`: every setting of data, model, callbacks and Trainer as a typed argument, by LightningCLI."""

import gc
import inspect
import logging
import os
import pydoc
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch.cli import ArgsType, LightningArgumentParser, LightningCLI, SaveConfigCallback
from lightning.pytorch.loggers import TensorBoardLogger

import brdiv.envs
import brdiv.objectives
from brdiv.callbacks import (
    CheckpointError,
    Checkpoints,
    CrossPlay,
    PlasticEvaluation,
    PopulationExport,
    RunStopped,
    StepProgress,
    Throughput,
)
from brdiv.cli import fail
from brdiv.configs import find_config
from brdiv.data import RolloutData
from brdiv.envs import Task
from brdiv.folders import claim_folder, config_name, how_to_go_on, is_first_process
from brdiv.module import NotFinite, TeammateGenerator
from brdiv.objectives import Objective
from brdiv.resume import CheckpointFileError, check_fits, check_stream, find_checkpoint


def class_names(module: ModuleType, parent: type) -> list[str]:
    """Names of the classes below ``parent`` that a module exports, those that are only a base left out."""
    exported = [getattr(module, name) for name in module.__all__]
    classes = [item for item in exported if inspect.isclass(item) and parent in item.__mro__[1:]]
    return sorted(item.__name__ for item in classes if not inspect.isabstract(item))


CLASSES = {"data.game": class_names(brdiv.envs, Task), "model.objective": class_names(brdiv.objectives, Objective)}
USAGE = "brdiv fit --config FILE [--config FILE ...] [--key value ...]"
DESCRIPTION = """\
Train a population of teammates, each of which needs a different best response. Every setting below can stand in a
config file (shipped ones are found by name) or be given here; later ones win. --print_config shows what is used."""


class OneLineParser(LightningArgumentParser):
    """Answers a mistake with one line and exit code 2, and takes no abbreviated options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "allow_abbrev": False})

    def error(self, message: str, ex: Exception | None = None) -> NoReturn:
        """Fold the message into one line, and name the choices where a class isn't known."""
        for key, choices in CLASSES.items():
            if f'key "{key}"' in message and "Got value: None" in message:
                message = f"{key} is missing: give a --config, or one of {', '.join(choices)}"
            elif f'key "{key}"' in message and "import path" in message:
                message = f"{key}: no such class; known are {', '.join(choices)}, or give a dotted import path"
        fail(" ".join(message.split()))


class TrainingCLI(LightningCLI):
    """The command line of training: what is linked to what, where output goes, which callbacks watch."""

    @staticmethod
    def subcommands() -> dict[str, set[str]]:
        """Training is all that is done through the Trainer."""
        return {"fit": {"model", "train_dataloaders", "val_dataloaders", "datamodule"}}

    def add_arguments_to_parser(self, parser: LightningArgumentParser) -> None:
        """Add our own options, and say each value in one place only."""
        parser.description = DESCRIPTION
        parser.add_argument(
            "--run",
            type=str | None,
            default=None,
            help="Folder for all that this run writes. Default: runs/<game>-<objective>-seed<seed>, numbered if taken.",
        )
        parser.add_argument("--threads", type=int, default=2, help="Threads that torch may use on the CPU.")
        parser.add_lightning_class_args(StepProgress, "progress")
        parser.add_lightning_class_args(Throughput, "throughput")
        # The file first: whatever the last measurement may run into, the population is safe by then.
        parser.add_lightning_class_args(PopulationExport, "export")
        parser.add_lightning_class_args(CrossPlay, "cross_play")
        parser.add_lightning_class_args(PlasticEvaluation, "plastic")
        parser.add_lightning_class_args(Checkpoints, "checkpoints")
        parser.link_arguments("seed_everything", "data.seed")
        parser.link_arguments("model.n_types", "data.n_types")
        parser.link_arguments("model.objective", "data.cross_play", compute_fn=wants_cross_play)
        parser.link_arguments("data.observation_size", "model.observation_size", apply_on="instantiate")
        parser.link_arguments("data.n_actions", "model.n_actions", apply_on="instantiate")

    def _parse_ckpt_path(self) -> None:
        """Leave the checkpoint's hyperparameters alone: a run goes on with the settings it is given.

        Lightning would also read the file before we have looked whether it is whole.
        """

    def before_instantiate_classes(self) -> None:
        """Refuse what would not do what it says, and set threads before anything computes."""
        config = self.config.fit
        if config.threads < 1:
            self.parser.error(f"threads is {config.threads}: at least one is needed")
        if config.trainer.max_epochs != 1:
            self.parser.error(f"trainer.max_epochs is {config.trainer.max_epochs}: a run is one epoch; set data.steps")
        check_strategy(self.parser, config.trainer.strategy)
        torch.set_num_threads(config.threads)
        os.environ.setdefault("OMP_NUM_THREADS", str(config.threads))  # without it, Lightning's DDP sets another number
        self.continued: dict[str, Any] | None = None
        if config.ckpt_path is not None:
            self.find_run_to_continue(config)

    def find_run_to_continue(self, config: Any) -> None:
        """Look for the checkpoint and its folder, and check it, before anything is built."""
        try:
            path, folder, self.continued = find_checkpoint(
                str(config.ckpt_path), config.run and Path(config.run), default_folder(config)
            )
        except CheckpointFileError as error:
            self.parser.error(f"ckpt_path: {error}")
        config.ckpt_path, config.run, config.weights_only = str(path), str(folder), True
        # The config that the run began with stays as it is: it repeats the run from its first step.
        name = config_name(self.continued["env_steps"])
        self.save_config_kwargs.update(config_filename=name, overwrite=True)

    def instantiate_classes(self) -> None:
        """Build everything; what a constructor refuses is the user's mistake, not a crash."""
        try:
            super().instantiate_classes()
        except (ValueError, OSError, MisconfigurationException) as error:
            self.parser.error(str(error))

    def instantiate_trainer(self, **kwargs: Any) -> Any:
        """Claim the run's folder, last of all: a refused config leaves nothing behind."""
        built = self.config_init.fit
        if built.trainer.enable_progress_bar is False:
            # Lightning refuses a progress bar of ours beside this setting instead of heeding it.
            built.trainer.enable_progress_bar = True
            built.progress.disable()
        config = self.config.fit
        if config.trainer.fast_dev_run:
            return super().instantiate_trainer(**kwargs)
        wanted = Path(config.run) if config.run else None
        if self.continued is None:
            # Other processes of the run write nothing, and are told the folder by the first.
            folder = claim_folder(wanted, default_folder(config)) if is_first_process() else wanted or Path("runs")
            logged = None
        else:
            assert wanted is not None
            folder, logged = wanted, self.continued["env_steps"]
        kwargs["default_root_dir"] = folder
        if config.trainer.logger is None:
            # What was logged after the checkpoint will be logged again: readers are told to forget it.
            purge = {} if logged is None else {"purge_step": logged + 1}
            kwargs["logger"] = TensorBoardLogger(
                folder.parent, name=folder.name, version="", default_hp_metric=False, **purge
            )
        try:
            return super().instantiate_trainer(**kwargs)
        except Exception:
            if self.continued is None and is_first_process():
                folder.rmdir()
            raise

    def before_fit(self) -> None:
        """Refuse to go on with a run that has no steps left."""
        if self.continued is not None:
            path = Path(self.config.fit.ckpt_path)
            try:
                check_fits(self.continued, self.model, path)
                check_stream(
                    self.continued, self.datamodule.pairing.rows, self.datamodule.window, self.trainer.world_size, path
                )
            except CheckpointFileError as error:
                self.parser.error(f"ckpt_path: {error}")
            done, planned = self.continued["env_steps"], self.datamodule.planned_steps(self.trainer.world_size)
            if done >= planned:
                self.parser.error(f"ckpt_path: the run is over, {done:,} of {planned:,} steps; set data.steps higher")

    def after_fit(self) -> None:
        """Say where things are."""
        folder = self.trainer.log_dir and Path(self.trainer.log_dir)
        if folder is not None and self.trainer.is_global_zero:
            print(f"\npopulation  {folder}/{self.config.fit.export.name}")
            print(f"picture     {folder}/cross_play.png")
            print(f"numbers     {folder}/cross_play.csv")
            print(f"logs        tensorboard --logdir {folder}")


def wants_cross_play(objective: Any) -> bool:
    """Look up whether the objective's class learns from cross-play; where there is none, the parser complains later."""
    return objective is None or bool(pydoc.locate(objective.class_path).cross_play)  # type: ignore[attr-defined]


def class_name(setting: Any) -> str:
    """Name the class of a parsed `class_path` setting."""
    return str(setting.class_path).rpartition(".")[-1]


def check_strategy(parser: LightningArgumentParser, strategy: Any) -> None:
    """Refuse strategies that would not do what they say with this model."""
    name = strategy if isinstance(strategy, str) else class_name(strategy)
    if name not in {"auto", "ddp", "DDPStrategy", "SingleDeviceStrategy"}:
        parser.error(
            f"trainer.strategy is {name}: use ddp for several devices. Networks of this size gain nothing by sharding, "
            "and processes that are forked or spawned from one that has parsed its arguments are not supported"
        )


def default_folder(config: Any) -> Path:
    """Name the folder of a run after what it trains."""
    name = f"{class_name(config.data.game)}-{class_name(config.model.objective)}-seed{config.seed_everything}"
    return Path("runs", name.lower())


def with_shipped_configs(arguments: list[str]) -> list[str]:
    """Replace the value of every `--config` by the file it names."""
    found: list[str] = []
    for argument in arguments:
        if found and found[-1] in {"--config", "-c"}:
            found.append(str(find_config(argument)))
        elif argument.startswith("--config="):
            found.append(f"--config={find_config(argument.removeprefix('--config='))}")
        else:
            found.append(argument)
    return found


def fit(arguments: list[str]) -> None:
    """Run `brdiv fit` with these arguments."""
    try:
        build(["fit", *arguments])
    except (CheckpointError, OSError) as error:
        fail(error)
    except NotFinite as error:
        fail("; ".join([f"{error}: a lower learning_rate may help", *notes(error)]))
    except RunStopped as stop:
        leave_process_group()
        if not is_first_process():
            return  # with an error code, it would have the first process ended before that has said what follows
        if stop.path is not None:
            print(f"\n{stop}; saved as {stop.path}\n{how_to_go_on(stop.path)}", file=sys.stderr)
        sys.exit(128 + stop.signum)
    except RuntimeError as error:
        if not is_lost_connection(error):
            raise
        fail("; ".join(["another process of this run has ended; its own message says why", *notes(error)]))
    leave_process_group()


def notes(error: BaseException) -> list[str]:
    """What was noted with an error on its way here."""
    return getattr(error, "__notes__", [])


def is_lost_connection(error: RuntimeError) -> bool:
    """Whether processes that learn together have lost each other. On CPUs there is no error of its own for that."""
    distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
    return distributed and (isinstance(error, torch.distributed.DistError) or "gloo" in str(error))


def leave_process_group() -> None:
    """Let go of the other processes of a run that all reached its end together.

    Threads of gloo that are still about when the interpreter shuts down abort the process now and then. After an
    error the others may wait inside a collective, where leaving would wait too: then the process just ends.
    """
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def build(arguments: list[str], run: bool = True) -> TrainingCLI:
    """Parse arguments, build everything, and train unless told not to."""
    quieten()
    if not gc.get_freeze_count():
        # Libraries stay: not searched for garbage again and again, they make letting go of figures cheap.
        gc.freeze()
    sys.path.insert(0, "")  # so that games and objectives of one's own are found where one stands
    try:
        args: ArgsType = with_shipped_configs(arguments)
    except (FileNotFoundError, ValueError) as error:
        fail(error)
    return (TrainingCLI if run else BuildOnly)(
        TeammateGenerator,
        RolloutData,
        save_config_callback=SaveConfigCallback,
        seed_everything_default=0,
        trainer_defaults={
            "max_epochs": 1,
            "devices": 1,
            "gradient_clip_val": 1.0,
            "gradient_clip_algorithm": "value",
            "enable_model_summary": False,
        },
        parser_class=OneLineParser,
        parser_kwargs={"prog": "brdiv", "fit": {"usage": USAGE}},
        args=args,
    )


class BuildOnly(TrainingCLI):
    """Builds what `brdiv fit` would run, and leaves it at that."""

    def _run_subcommand(self, subcommand: str) -> None:
        """Don't."""


def quieten() -> None:
    """Keep libraries from filling the terminal with advice that does not apply here."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    logging.getLogger("lightning.fabric").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message="LightningCLI's args parameter")
    warnings.filterwarnings("ignore", message=".*LeafSpec")
    warnings.filterwarnings("ignore", module="torchrl|tensordict")
