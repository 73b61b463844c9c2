import json

import pytest

from brdiv.cli import main


def test_every_game_is_timed(capsys):
    main(["bench", "--rows", "8", "--threads", "1"])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert [line.split()[0] for line in lines] == ["Reaching", "LBF", "Cooking"]
    assert all(float(number.replace(",", "")) > 100 for line in lines for number in line.split()[1:])


@pytest.mark.parametrize("config", ["reaching", "lbf", "cooking"])
def test_training_is_timed_against_the_floor(config, capsys):
    main(["bench", "--config", config, "--updates", "20", "--repeats", "1", "--threads", "1", "--model.hidden", "[8]"])
    out = capsys.readouterr().out.strip().splitlines()
    result = json.loads(out[-1])
    assert result["fraction_of_floor"] == pytest.approx(
        result["env_steps_per_second"] / result["floor_steps_per_second"], rel=0.01
    )
    parts = result["milliseconds"]
    assert set(parts) == {
        "policy", "env", "collector_overhead", "loss_and_backward", "optimiser", "loop_overhead", "measuring",
    }  # fmt: skip
    assert all(value >= 0 for value in parts.values())
    assert parts["measuring"] > 0
    assert out[0].startswith(result["game"])  # and nothing of what the run prints
    assert result["hidden"] == [8]
    assert any(line.split()[:1] == ["floor"] for line in out)


def test_misspelt_options_are_refused(capsys):
    with pytest.raises(SystemExit):
        main(["bench", "--row", "8"])
    assert "unrecognized arguments: --row 8" in capsys.readouterr().err
