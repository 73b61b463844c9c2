"""Mistakes in settings are answered in the words in which they were made."""

import pytest
import yaml

from brdiv.commands import main
from brdiv.commands.line.complaints import plain


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    return line.removeprefix("brdiv: error: ")


def printed_config(capsys, *arguments):
    with pytest.raises(SystemExit) as stop:
        main(["fit", "--config", "reaching", *arguments, "--print_config"])
    assert stop.value.code == 0
    return yaml.safe_load(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("--data.step", "--data.steps"),
        ("--model.learningrate", "--model.learning_rate"),
        ("--learning_rate", "--model.learning_rate"),
        ("--data.self", "--data.self_play_rows"),
        ("--checkpoint.every", "--checkpoints.every"),
        ("--ckpt-path", "--ckpt_path"),
        ("--trainer.acelerator", "--trainer.accelerator"),
    ],
)
def test_fit_guesses_which_option_was_meant(wrong, meant, capsys):
    for given in ([wrong, "5"], [f"{wrong}=5"]):
        line = refused(capsys, "fit", "--config", "reaching", *given)
        assert line == f"unrecognized arguments: {' '.join(given)}; did you mean {meant}?"


def test_nothing_is_guessed_where_nothing_is_near(capsys):
    assert refused(capsys, "fit", "--config", "reaching", "--zzz", "5") == "unrecognized arguments: --zzz 5"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("data: {step: 5}", "data.step: no such setting; did you mean data.steps?"),
        ("model: {learningrate: 5}", "model.learningrate: no such setting; did you mean model.learning_rate?"),
        ("cross_ply: {every: 5}", "cross_ply.every: no such setting; did you mean cross_play.every?"),
        (
            "data: {game: {class_path: Reaching, init_args: {sise: 7}}}",
            "data.game.sise: no such setting; did you mean size?",
        ),
        ("colour: blue", "colour: no such setting"),
        ("data: {steps: 4.5}", "data.steps is 4.5: it must be a whole number"),
        ("model: {gamma: x}", "model.gamma is x: it must be a number"),
        ("model: {critic_hidden: x}", "model.critic_hidden is x: it must be one of Sequence[int], null"),
    ],
)
def test_configs_are_answered_by_their_keys(text, line, capsys, tmp_path):
    (tmp_path / "own.yaml").write_text(text)
    assert refused(capsys, "fit", "--config", "reaching", "--config", str(tmp_path / "own.yaml")) == line


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["fit", "--model.objective", "BRDiv"], "data.game is missing: give a --config, or one of Cooking, Gymnasium,"),
        (["fit", "--config", "reaching", "--data.game", "PettingZoo"], "--data.game.module is missing"),
        (["fit", "reaching"], "unrecognized arguments: reaching; options begin with --, as in --config FILE"),
        (["seeds", "--seeds", "4"], "--config is missing"),
        (["show"], "file is missing"),
    ],
)
def test_what_is_missing_is_named_as_it_is_written(arguments, line, capsys):
    assert refused(capsys, *arguments).startswith(line)


STEPS = ("data.steps", "cross_play.every", "checkpoints.every", "plastic.every")


@pytest.mark.parametrize("key", STEPS)
@pytest.mark.parametrize(("text", "number"), [("4e6", 4_000_000), ("1.5E+5", 150_000), ("2_000_000", 2_000_000)])
def test_numbers_of_steps_may_have_an_exponent(key, text, number, capsys, tmp_path):
    group, name = key.split(".")
    (tmp_path / "own.yaml").write_text(f"{group}: {{{name}: {text}}}")
    for given in ([f"--{key}", text], [f"--{key}={text}"], ["--config", str(tmp_path / "own.yaml")]):
        found = printed_config(capsys, *given)[group][name]
        assert found == number
        assert isinstance(found, int)


@pytest.mark.parametrize("key", STEPS)
@pytest.mark.parametrize("text", ["4.5", "1e-1", "1.23e1"])
def test_parts_of_steps_are_refused(key, text, capsys):
    line = refused(capsys, "fit", "--config", "reaching", f"--{key}", text)
    assert line.startswith(f"{key} is ")
    assert line.endswith(": it must be a whole number")


def test_a_folder_keeps_a_name_that_looks_like_a_number(capsys):
    assert printed_config(capsys, "--run", "4e6")["run"] == "4e6"


@pytest.mark.parametrize("words", ["no config file outfit.yaml", "no config file fit.yaml", "x.benefit.y is 3"])
def test_words_of_the_user_are_left_as_they_are(words):
    assert plain(words, []) == words
