"""The command line of training: parse, build, train, and say how it ended."""

import gc
import logging
import os
import signal
import sys
import warnings
from pathlib import Path

from lightning.pytorch.cli import ArgsType
from lightning.pytorch.utilities.exceptions import SIGTERMException

from brdiv.benchmarks.training import TrainingParts
from brdiv.callbacks import (
    RunStopped,
)
from brdiv.commands.line.cli import BuildOnly, SaveConfig, TrainingCLI
from brdiv.commands.line.processes import leave_process_group, port_is_taken
from brdiv.commands.line.settings import (
    TrainingParser,
    with_shipped_configs,
)
from brdiv.errors import UserError
from brdiv.parent import as_parent
from brdiv.runs import RunFolder, is_first_process
from brdiv.runs.lock import unlock_all
from brdiv.training.ranks import another_process_is_gone, why_it_is_gone


def run_training(arguments: list[str], kind: type[TrainingCLI] = TrainingCLI) -> None:
    """Train as these arguments say."""
    os.environ.update(as_parent())  # for the processes that Lightning starts
    try:
        make_cli(kind, arguments)
    except RunStopped as stop:
        leave_process_group()
        if not is_first_process():
            return  # with an error code, it would have the first process ended before that has said what follows
        if stop.path is not None:
            how = RunFolder.of_checkpoint(stop.path).how_to_resume(stop.path, stop.command)
            print(f"\n{stop}; saved as {stop.path}\n{how}", file=sys.stderr)
        sys.exit(128 + stop.signum)
    except SIGTERMException:  # Lightning's, which would end as if all was done; nothing was learned by then
        print("brdiv: stopped by SIGTERM before the first update", file=sys.stderr)
        sys.exit(128 + signal.SIGTERM)
    except RuntimeError as error:
        if port_is_taken(error):
            raise UserError(
                "the port at which the processes of a run meet is in use; set another MASTER_PORT"
            ) from None
        if not another_process_is_gone(error):
            raise
        gone = UserError(why_it_is_gone(error))
        gone.__notes__ = getattr(error, "__notes__", [])
        raise gone from None
    finally:
        unlock_all()
    leave_process_group()


def build_parts(arguments: list[str], run: Path, updates: int) -> TrainingParts:
    """Build everything that `brdiv fit` would run, with a budget of so many updates and no output."""
    brief = ["--trainer.enable_progress_bar", "false", "--cross_play.final_episodes", "1"]
    cli = make_cli(BuildOnly, [*arguments, "--run", str(run), *brief])
    cli.datamodule.steps = cli.datamodule.steps_per_update * updates
    cli.before_fit()
    return TrainingParts(cli.trainer, cli.model, cli.datamodule)


def make_cli(kind: type[TrainingCLI], arguments: list[str]) -> TrainingCLI:
    """Parse arguments and build everything; what then runs depends on the kind."""
    quieten()
    if not gc.get_freeze_count():
        # Libraries stay: not searched for garbage again and again, they make letting go of figures cheap.
        gc.freeze()
    sys.path.insert(0, "")  # so that custom games and objectives are found where one stands
    args: ArgsType = ["fit", *with_shipped_configs(arguments)]
    return kind(
        kind.module_class,
        kind.data_class,
        save_config_callback=SaveConfig,
        save_config_kwargs={"save_to_log_dir": False},
        seed_everything_default=0,
        trainer_defaults={
            "max_epochs": 1,
            "devices": 1,
            "enable_model_summary": False,
            **kind.trainer_settings,
        },
        parser_class=TrainingParser,
        parser_kwargs={"prog": "brdiv", "fit": {"usage": kind.usage}},
        args=args,
    )


def quieten() -> None:
    """Keep libraries from filling the terminal with advice that does not apply here."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    logging.getLogger("lightning.fabric").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message="LightningCLI's args parameter")
    warnings.filterwarnings("ignore", message=".*LeafSpec")
    warnings.filterwarnings("ignore", module="torchrl|tensordict")
