import os
import signal
from pathlib import Path

import numpy as np
import pytest
import torch

from brdiv.commands.line import cores

# Recorded play of the published environments is kept beside the checkout, not in it.
TRACES = Path(os.environ.get("BRDIV_TRACES", Path(__file__).parents[2] / "shared" / "traces"))


# These change torch for the process that imports them: looking for doctests must not.
collect_ignore = ["fake_device.py", "walk_off_the_cpu.py"]


@pytest.fixture(scope="session", autouse=True)
def _signals_are_heard():
    """A shell's background job and `nohup` have the suite, and all it starts, ignore Ctrl-C or a closed terminal."""
    for signum, usual in {signal.SIGINT: signal.default_int_handler, signal.SIGHUP: signal.SIG_DFL}.items():
        if signal.getsignal(signum) is signal.SIG_IGN:
            signal.signal(signum, usual)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    torch.set_num_threads(1)


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch):
    """How busy the machine happens to be is no part of what a test sees."""
    monkeypatch.setattr(cores, "busy_elsewhere", lambda: 0.0)


@pytest.fixture
def recorded():
    def load(name: str) -> dict[str, torch.Tensor]:
        path = TRACES / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"recorded play {path.name} is not here; set BRDIV_TRACES to the folder that has it")
        with np.load(path) as file:
            return {key: torch.from_numpy(file[key]) for key in file.files if file[key].dtype.kind in "biuf"}

    return load


@pytest.fixture
def generator():
    return torch.Generator().manual_seed(0)
