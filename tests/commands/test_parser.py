"""Functions become command lines."""

from pathlib import Path

import pytest

from brdiv.commands import command_names, load_command, main, overview
from brdiv.commands.line.parser import call, make_parser
from brdiv.errors import UserError


def recorded(function_arguments):
    """A command that writes down what it is called with."""

    def command(runs: list[Path], jobs: int = 2, names: list[str] = ["a"], out: Path | None = None, fast: bool = False):  # noqa: B006
        """Do something.

        Args:
            runs: Folders.
            jobs: How many at a time.
            names: Names.
            out: Output.
            fast: Hurry.

        """
        function_arguments.update(locals())

    return command


def called(*arguments):
    found = {}
    call("something", recorded(found), arguments)
    return {name: value for name, value in found.items() if name != "function_arguments"}


def test_arguments_are_converted_to_their_types():
    assert called("x", "y", "--jobs", "3", "--names", "b", "c", "--out", "z.png", "--fast") == {
        "runs": [Path("x"), Path("y")],
        "jobs": 3,
        "names": ["b", "c"],
        "out": Path("z.png"),
        "fast": True,
    }
    assert called("x") == {"runs": [Path("x")], "jobs": 2, "names": ["a"], "out": None, "fast": False}


def test_an_option_that_is_given_twice_adds_values():
    assert called("x", "--names", "b", "--names=c")["names"] == ["b", "c"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["x", "--job", "3"], "unrecognized arguments: --job 3; did you mean --jobs?"),
        (["x", "--jobs", "many"], "jobs"),
        ([], "runs"),
    ],
)
def test_mistakes_are_user_errors_of_one_line(arguments, complaint):
    with pytest.raises(UserError, match="") as caught:
        called(*arguments)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_a_command_does_not_know_goes_to_fit():
    found = {}

    def command(*, config: list[str], jobs: int = 2, fit_options: list[str]):
        """Train.

        Args:
            config: Config files.
            jobs: How many.
            fit_options: The rest.

        """
        found.update(config=config, jobs=jobs, fit_options=fit_options)

    call("train", command, ["--config", "a", "--data.steps", "5", "--config", "b", "--model.hidden", "[8]", "--jobs=1"])
    assert found == {"config": ["a", "b"], "jobs": 1, "fit_options": ["--data.steps", "5", "--model.hidden", "[8]"]}


@pytest.mark.parametrize("name", command_names())
def test_every_command_explains_itself(name):
    text = overview()
    command = load_command(name)
    assert f"  {name} " in text
    assert f"brdiv {name} " in text, "an example"
    if name != "fit":  # whose help is Lightning's
        help_text = make_parser(name, command).format_help()
        for line in help_text.splitlines():
            assert "null)" not in line or "default" in line
        assert "Args:" not in help_text


def test_a_mistyped_command_is_guessed(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["evalute", "x"])
    assert stop.value.code == 2
    assert capsys.readouterr().err == "brdiv: error: no command 'evalute'; did you mean evaluate?\n"


BROKEN = """
from brdiv.games import Reaching

class Broken(Reaching):
    def __init__(self, size: int = 5) -> None:
        super().__init__(size)
        raise ValueError("a mistake in my own code")
"""


def test_a_mistake_in_a_custom_game_keeps_its_traceback(tmp_path, monkeypatch):
    (tmp_path / "broken_game.py").write_text(BROKEN)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="a mistake in my own code") as caught:
        main(["fit", "--config", "reaching", "--data.game", "broken_game.Broken", "--run", "run"])
    assert not isinstance(caught.value, UserError)
    assert any("broken_game.py" in str(entry.path) for entry in caught.traceback)
