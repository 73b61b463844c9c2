"""The package list against the disk, the import arrows, and an installed wheel outside the checkout."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What each room may import of ours; everything else would be an arrow pointing back. Everyone may use these three:
EVERYWHERE = {"errors", "text", "version"}
ARROWS = {
    "text": set(),
    "errors": set(),
    "version": set(),
    "parent": set(),
    "metrics": set(),
    "grouped": set(),
    "nets": {"grouped"},
    "recurrent": {"nets"},
    "configs": set(),
    "games": set(),
    "rollouts": {"games"},
    "objectives": {"nets", "metrics"},
    "training": {"games", "rollouts", "nets", "objectives"},
    "teamwork": {"games", "rollouts", "nets", "recurrent"},
    "runs": {"games", "nets", "recurrent"},
    "evaluation": {"games", "teamwork", "runs", "metrics", "nets"},
    "figures": {"games", "metrics"},
    "study": {"games", "runs", "teamwork", "evaluation", "metrics", "nets", "configs", "parent"},
    "report": {"games", "teamwork", "runs", "evaluation", "figures", "metrics"},
    "pettingzoo": {"doors"},
    "stable_baselines3": {"doors"},
    "doors": {"games", "rollouts", "nets", "teamwork", "runs", "evaluation", "figures"},
    "bounds": {"games", "rollouts", "grouped", "nets", "training", "teamwork", "runs"},
    "learners": {"games", "rollouts", "grouped", "nets", "recurrent", "teamwork", "runs", "training", "doors"},
    "benchmarks": {"games", "rollouts", "nets", "training", "figures", "doors", "teamwork", "learners", "parent"},
    "serve": {"games", "nets", "teamwork", "runs", "evaluation"},
    "callbacks": {"games", "metrics", "training", "teamwork", "runs", "evaluation", "figures", "learners", "doors"},
}
ARROWS["commands"] = set(ARROWS)


def sources(part):
    folders = {"callbacks": ROOT / "callbacks", "configs": ROOT / "configs"}
    folder = folders.get(part, ROOT / "brdiv" / part)
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [ROOT / "brdiv" / f"{part}.py"]


def imported_parts(path):
    """The parts of brdiv that a file imports, type-checking blocks left out."""
    tree = ast.parse(path.read_text())
    hints = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)]
    skipped = {id(inner) for block in hints for inner in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in skipped:
            continue
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("brdiv."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[1] for name in node.names if name.name.startswith("brdiv."))


def imported_modules(path):
    """The top-level packages that a file imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)


@pytest.mark.parametrize("part", ARROWS)
def test_no_import_points_back(part):
    files = sources(part)
    assert files
    for path in files:
        assert set(imported_parts(path)) <= ARROWS[part] | EVERYWHERE | {part}, path


def test_every_part_is_covered_by_an_arrow():
    top = {path.stem for path in (ROOT / "brdiv").iterdir() if path.suffix == ".py" or path.is_dir()}
    assert top - {"__init__", "__main__", "__pycache__", "py"} == set(ARROWS) - {"callbacks", "configs"}


@pytest.mark.parametrize("part", ARROWS)
def test_only_rollouts_know_torchrl_and_only_commands_a_command_line(part):
    """Benchmarks say which version they ran with."""
    known = {"torchrl": {"rollouts", "benchmarks"}, "jsonargparse": {"commands"}, "argparse": {"commands"}}
    for path in sources(part):
        for module, rooms in known.items():
            assert module not in imported_modules(path) or part in rooms, path


def test_the_package_list_is_what_is_on_disk():
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    on_disk = {"brdiv"} | {
        "brdiv." + ".".join(path.parent.relative_to(ROOT / "brdiv").parts)
        for path in (ROOT / "brdiv").rglob("__init__.py")
        if path.parent != ROOT / "brdiv"
    }
    assert listed == on_disk | {"brdiv.callbacks", "brdiv.configs"}


def test_files_that_are_no_code_come_with_the_package():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    other = {
        path
        for path in (ROOT / "brdiv").rglob("*")
        if path.is_file() and path.suffix not in {".py", ".pyc"} and "__pycache__" not in path.parts
    }
    folders = {name: ROOT.joinpath(*name.split(".")) for name in listed}
    covered = {
        path for name, patterns in listed.items() for pattern in patterns for path in folders[name].glob(pattern)
    }
    assert {"page.html.jinja", "style.css", "script.js", "py.typed"} <= {path.name for path in other}
    assert other <= covered


def test_an_installed_wheel_trains_outside_the_checkout(tmp_path):
    def run(*command, **kwargs):
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, **kwargs)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    # From a copy, so that nothing an earlier build left behind gets in, and nothing is left behind.
    skipped = shutil.ignore_patterns(".git", ".venv", "build", "*.egg-info", "__pycache__", ".*_cache")
    shutil.copytree(
        ROOT,
        tmp_path / "source",
        ignore=lambda folder, names: skipped(folder, names) | ({"runs"} if Path(folder) == ROOT else set()),
    )
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(tmp_path / "source"))
    (wheel,) = tmp_path.glob("brdiv-*.whl")
    run(*pip, "install", "--no-deps", "--target", str(tmp_path / "site"), str(wheel))
    # The installed copy comes before the editable one of the environment the tests run in.
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    where = run(sys.executable, "-c", "import brdiv.callbacks as c; print(c.__file__)", env=environment)
    assert str(tmp_path / "site") in where
    brdiv = [sys.executable, "-m", "brdiv", "fit", "--config", "configs/reaching.yaml", "--data.steps", "1280"]
    out = run(*brdiv, "--cross_play.final_episodes", "1", env=environment)
    assert "mean diagonal" in out
    assert (tmp_path / "runs" / "reaching-brdiv-seed0" / "population.safetensors").exists()
    # The README's lines, as printed, with what was just trained.
    (readme,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    shown = run(sys.executable, "-c", f"{readme}\nprint(brdiv.__file__, info['teammate'])", env=environment)
    assert str(tmp_path / "site") in shown
    assert "teammate " in shown
