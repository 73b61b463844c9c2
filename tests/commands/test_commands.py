import errno
import subprocess
import sys

import pytest
import yaml
from brdiv.configs import shipped_configs

import brdiv
from brdiv.commands import answer, main
from brdiv.errors import UserError
from tests.small_runs import train


def refused(capsys, *arguments):
    """Run a command that must fail; returns its one line of complaint."""
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("brdiv: error: ")
    return line


def ends_in(error):
    """What a command says that ends in an error."""

    def work():
        raise error

    return lambda: answer(work)


def test_what_the_machine_refuses_is_one_line_with_its_name(capsys):
    for error, told in [
        (OSError(errno.ENAMETOOLONG, "File name too long", "xxx"), "xxx: File name too long"),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device"),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), "/x: Permission denied"),
    ]:
        error.add_note("resume like this")
        with pytest.raises(SystemExit) as stop:
            ends_in(error)()
        assert stop.value.code == 2
        assert capsys.readouterr().err == f"brdiv: error: {told}; resume like this\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["show", "x", "--episodes", "1000000000000"], "episodes is 1000000000000: it must be at most 1,000,000"),
        (["show", "x", "--seed", "1" + 40 * "0"], "seed is 1000"),
        (["show", "x", "--threads", "1" + 40 * "0"], "threads is 1000"),
        (["play", "H1", "H2", "--episodes", "1000000000000"], "episodes is 1000000000000"),
        (["play", "H1", "H2", "--drawn", "1000000000000"], "drawn is 1000000000000"),
        (["play", "H1", "H2", "--seed", "-1"], "seed is -1: it must be at least 0"),
        (["evaluate", "x", "--episodes", "1000000000000"], "episodes is 1000000000000"),
        (["evaluate", "x", "--seed", "4294967296"], "seed is 4294967296: it must be at most 4,294,967,295"),
        (["bounds", "x", "--steps", "1" + 40 * "0"], "steps is 1000"),
        (["bounds", "x", "--seed", "4294967296"], "seed is 4294967296"),
        (["serve", "x", "--most-games", "1000000000000"], "most_games is 1000000000000"),
        (["bench", "--updates", "1" + 40 * "0"], "updates is 1000"),
        (["study", "quick", "--cell", "1" + 40 * "0"], "cell is 1000"),
    ],
)
def test_numbers_beyond_all_bounds_are_refused_by_every_command(arguments, told, capsys):
    assert told in refused(capsys, *arguments)


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "No such file", "x"), OSError("x"), KeyError("x")])
def test_mistakes_in_code_keep_their_traceback(error):
    with pytest.raises(type(error)):
        ends_in(error)()


def test_of_a_long_complaint_both_ends_are_said(capsys):
    with pytest.raises(SystemExit):
        ends_in(UserError("what is wrong: " + "x" * 5000 + "; what to do"))()
    line = capsys.readouterr().err
    assert len(line) < 1000
    assert line.startswith("brdiv: error: what is wrong: xxx")
    assert line.endswith("xxx; what to do\n")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--model.n_types", "1"], "n_types is 1"),
        (["--data.game", "Chess"], "data.game: no such class; known are Cooking, Gymnasium, LBF, PettingZoo, Reaching"),
        (
            ["--model.objective", "Luck"],
            "model.objective: no such class; known are AnyPlay, BRDiv, Independent, LBRDiv, LIPO, TrajeDi",
        ),
        (["--data.steps", "-5"], "steps is -5"),
        (["--data.steps", "many"], "data.steps"),
        (["--data.game.goals", "[[0, 9]]", "--data.game.payoffs", "[1]"], "goal (0, 9) is outside the grid of 5 x 5"),
        (["--data.stepz", "5"], "--data.stepz"),
        (["--data.self", "5"], "--data.self"),
        (["--threads", "0"], "threads is 0"),
        (["--trainer.devices", "0"], "devices"),
        (["--trainer.max_epochs", "3"], "trainer.max_epochs is 3: a run is one epoch; set data.steps"),
        (["--ckpt_path", "last"], "ckpt_path: no run folder runs/reaching-brdiv-seed0 to resume"),
        (["--model.entropy_weight", "-1"], "entropy_weight is -1"),
        (["--data.game.payoffs", "[.nan, 1, 1, 1]"], "data.game.payoffs is nan: it must be 0, or a number from 1e-30"),
        (["--cross_play.episodes", "0"], "cross_play.episodes is 0"),
        (["--config", "nowhere.yaml"], "no config file nowhere.yaml; shipped ones are: "),
    ],
)
def test_a_mistake_gets_one_clear_line(arguments, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert complaint in refused(capsys, "fit", "--config", "reaching", *arguments)
    assert not list(tmp_path.glob("runs/*")), "a refused run leaves nothing behind"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("data: {self_play_row: 3}", "data.self_play_row"),
        ("data: {game: {class_path: Reaching, init_args: {sise: 7}}}", "sise"),
        ("colour: blue", "colour"),
        ("data: [", "own.yaml is not YAML"),
    ],
)
def test_a_misspelt_key_in_a_config_is_named(text, complaint, capsys, tmp_path):
    (tmp_path / "own.yaml").write_text(text)
    assert complaint in refused(capsys, "fit", "--config", "reaching", "--config", str(tmp_path / "own.yaml"))


def damaged_configs():
    """Ways for a config to be broken, as bytes made from a good one's."""
    return {
        "truncated": lambda data: data[: data.index(b"init_args") + 14],
        "bit flipped": lambda data: data.replace(b":", bytes([ord(":") ^ 1])),
        "binary": lambda data: bytes(range(256)) * 4,
        "not text": lambda data: data + "# \u00e9".encode("latin-1"),
        "a list": lambda data: b"- 1\n- 2\n",
        "a word": lambda data: b"hello\n",
        "a number": lambda data: b"42\n",
        "wrong type": lambda data: data.replace(b"n_types: 4", b"n_types: four"),
        "not a number": lambda data: data.replace(b"learning_rate: 1.0e-3", b"learning_rate: .nan"),
        "no such class": lambda data: data.replace(b"class_path: BRDiv", b"class_path: os.system"),
        "code": lambda data: data + b"run: !!python/object/apply:os._exit [3]\n",
        "code in a key": lambda data: data + b"? !!python/object/apply:os._exit [3]\n: 1\n",
        "tabs": lambda data: data.replace(b"  n_types", b"\tn_types"),
        "a checkpoint": lambda data: b"PK\x03\x04" + data,
        "another program's": lambda data: b"version: 3\nservices: {web: {image: nginx}}\n",
    }


@pytest.mark.parametrize("kind", damaged_configs())
def test_a_damaged_config_gets_a_clear_error(kind, capsys, tmp_path):
    good = shipped_configs()["reaching"].read_bytes()
    bad = damaged_configs()[kind](good)
    assert bad != good
    (tmp_path / "bad.yaml").write_bytes(bad)
    assert refused(capsys, "fit", "--config", str(tmp_path / "bad.yaml"), "--run", str(tmp_path / "run"))
    assert not (tmp_path / "run" / "checkpoints").exists()


def test_fit_without_a_config_says_what_is_missing(capsys):
    assert "model.objective is missing: give a --config" in refused(capsys, "fit")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["fot"], "no command 'fot'"),
        (["show", "nowhere.safetensors"], "no population file at nowhere.safetensors"),
        (["show"], "file is missing"),
        (["seeds", "--config", "reaching", "--seeds", "x"], "seeds 'x'"),
        (["seeds", "--config", "nowhere"], "no config file nowhere"),
        (["seeds", "--config", "reaching", "--jobs", "0"], "jobs is 0"),
        (["seeds", "--config", "reaching", "--threads", "4"], "--threads is set for each seed"),
        (["show", "x.safetensors", "--picture", "nowhere/x.png"], "there is no folder nowhere"),
        (["show", "x.safetensors", "--picture", "x.bmp"], "x.bmp ends in none of"),
        (["play", "random", "random", "--game", "Reaching", "--out", "nowhere/x.gif"], "there is no folder nowhere"),
    ],
)
def test_other_commands_answer_in_one_line_too(arguments, complaint, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert complaint in refused(capsys, *arguments)


def test_a_run_folder_in_use_is_not_overwritten(capsys, tmp_path):
    (tmp_path / "precious").write_text("data")
    assert "is not empty" in refused(capsys, "fit", "--config", "reaching", "--run", str(tmp_path))


@pytest.mark.parametrize(
    "name", [name for name in shipped_configs() if not name.startswith(("methods/", "studies/", "learners/"))]
)
def test_every_shipped_config_trains(name, tmp_path, capsys):
    run = train(tmp_path / "run", config=name, steps=128 * 2)
    names = {path.name for path in run.iterdir()}
    assert {"config.yaml", "population.safetensors", "cross_play.png", "cross_play.csv"} <= names
    assert any(name.startswith("events.out.tfevents") for name in names)
    out = capsys.readouterr().out
    assert "mean diagonal" in out
    assert f"tensorboard --logdir {run}" in out


def test_the_saved_config_repeats_the_run(tmp_path):
    first = train(tmp_path / "first", "--seed_everything", "5", "--model.learning_rate", "0.002")
    saved = first / "config.yaml"
    assert yaml.safe_load(saved.read_text())["model"]["learning_rate"] == 0.002
    main(["fit", "--config", str(saved), "--run", str(tmp_path / "again")])
    assert (first / "population.safetensors").read_bytes() == (tmp_path / "again/population.safetensors").read_bytes()


def test_runs_without_a_name_get_a_folder_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        main(["fit", "--config", "reaching", "--data.steps", "1280", "--cross_play.final_episodes", "1"])
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"reaching-brdiv-seed0", "reaching-brdiv-seed0-2"}


def test_print_config_shows_every_setting_without_training(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", "reaching", "--data.window", "5", "--print_config"])
    assert stop.value.code == 0
    config = yaml.safe_load(capsys.readouterr().out)
    assert config["data"]["window"] == 5
    assert config["model"]["gamma"] == 0.99
    assert not list(tmp_path.iterdir())


def test_help_describes_every_setting(capsys):
    with pytest.raises(SystemExit):
        main(["fit", "--help"])
    text = " ".join(capsys.readouterr().out.split())
    for phrase in ("--data.steps", "Budget in environment steps", "--model.tau", "--cross_play.every", "--threads"):
        assert phrase in text


def test_show_describes_a_population(tmp_path, capsys):
    run = train(tmp_path / "run", "--seed_everything", "9")
    capsys.readouterr()
    main(["show", str(run / "population.safetensors"), "--episodes", "3", "--picture", str(tmp_path / "matrix.png")])
    out = capsys.readouterr().out
    assert "Reaching(size=5" in out
    assert "BRDiv(cross_play_weight=" in out
    assert "seed  9" in out
    assert "mean off-diagonal" in out
    assert (tmp_path / "matrix.png").stat().st_size > 1000


def test_help_needs_no_torch():
    code = "import sys, brdiv.commands; brdiv.commands.main(['--help']); sys.exit('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "brdiv fit --config" in done.stdout


def test_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"brdiv {brdiv.__version__}\n"
