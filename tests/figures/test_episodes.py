import io
import itertools

import numpy as np
import pytest
import torch
from PIL import Image

from brdiv.commands import main
from brdiv.figures import save_gif, save_strip, small_gif
from brdiv.figures.episodes import draw_frame
from brdiv.games import LBF, Cooking, Game, Reaching
from brdiv.teamwork import RandomPolicies, Recorder, play
from tests.small_runs import train

GAMES = [Reaching(), LBF(), Cooking()]


@pytest.fixture(params=GAMES, ids=[type(game).__name__ for game in GAMES])
def game(request):
    return request.param


def record(game, episodes, generator):
    """Every moment of so many episodes of random play."""
    recorder, anyone = Recorder(episodes), RandomPolicies(game.n_actions)
    play(game, anyone, anyone, torch.zeros(episodes, 2, dtype=torch.long), generator, watch=[recorder])
    return recorder.frames()


def test_every_moment_of_an_episode_is_kept(game, generator):
    frames = record(game, 2, generator)
    assert [frame.step for frame in frames if frame.episode == 1] == list(
        range(len([f for f in frames if f.episode == 1]))
    )
    assert frames[-1].episode == 2
    assert all(later.total >= earlier.total for earlier, later in itertools.pairwise(frames) if later.step)


def test_a_gif_has_every_frame(game, generator, tmp_path):
    frames = record(game, 1, generator)[:6]
    save_gif(tmp_path / "play.gif", game, frames)
    with Image.open(tmp_path / "play.gif") as image:
        assert 2 <= image.n_frames <= 6  # equal neighbours may be merged
        assert image.size[0] > 200


def test_a_strip_is_one_picture(game, generator, tmp_path):
    frames = record(game, 1, generator)
    save_strip(tmp_path / "play.png", game, frames)
    with Image.open(tmp_path / "play.png") as image:
        assert image.size[0] > 500


def test_the_picture_of_a_kitchen_explains_its_letters(generator):
    """Every letter that is drawn is in the legend, with what it stands for; tools are called by their names."""
    (frame, *_) = record(Cooking(), 1, generator)
    figure = draw_frame(Cooking(), frame, "")
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    words = {text.get_text() for text in figure.axes[0].texts}
    meanings = dict(entry.split(": ") for entry in legend if ": " in entry)
    drawn = {word for word in words if len(word) == 1 and word.isalpha()}
    assert drawn == {"t", "c", "P"}  # nothing is chopped or blended yet
    assert meanings == {"t": "tomato", "T": "chopped tomato", "c": "carrot", "C": "blended carrot", "P": "plate"}
    assert {"blender", "knife", "serving", "table"} <= words
    assert legend[:2] == ["teammate", "best response"]


def test_text_shows_who_is_where():
    assert GAMES[0].text([1, 2, 3, 0]) == "* . . B *\n. . . . .\n. T . . .\n. . . . .\n* . . . *"
    lbf = GAMES[1].text([1, 1, 3, 4, 4, 3, -1, -1, 0, 0, 0, 1, 5, 5, 2])
    assert lbf.splitlines()[0] == "T1  .  .  .  .  ."
    assert lbf.splitlines()[1] == " . f3  .  .  .  ."
    assert lbf.splitlines()[5] == " .  .  .  .  . B2"
    state = GAMES[2].initial(1, torch.Generator().manual_seed(0))
    kitchen = GAMES[2].text(GAMES[2].view(state)[0, 0].tolist())
    assert "5 knife" in kitchen
    assert kitchen.splitlines()[-1] == "table      plate"
    assert "<- T, holds nothing" in kitchen


def test_a_variant_of_a_game_looks_like_it_and_others_show_numbers():
    class Variant(Reaching):
        pass

    assert Variant().text([1, 2, 3, 0]) == Reaching().text([1, 2, 3, 0])

    class Plain(Reaching):
        draw, text = Game.draw, Game.text

    assert Plain().text([1, 2, 3]) == "1 2 3"


def test_a_population_is_drawn(tmp_path, capsys):
    run = train(tmp_path / "run")
    main(["play", f"{run}:1", f"{run}:2", "--episodes", "2", "--out", str(tmp_path / "play.gif")])
    assert "play.gif" in capsys.readouterr().out
    assert (tmp_path / "play.gif").stat().st_size > 5_000


def test_random_play_is_printed_in_the_terminal(capsys):
    main(["play", "random", "random", "--game", "LBF", "--text", "--episodes", "2"])
    out = capsys.readouterr().out
    assert "episode 1, step 0, return 0.00" in out
    assert "T1" in out or "T2" in out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nowhere.safetensors:1", "H1"], "no population file at nowhere.safetensors"),
        (["random", "random", "--game", "Chess"], "no game 'Chess'; there are Reaching, LBF, Cooking"),
        (["random", "random", "--game", "Reaching", "--episodes", "0"], "episodes is 0"),
        (["random", "random", "--game", "Reaching", "--drawn", "0"], "drawn is 0"),
        (["random", "random", "--game", "Reaching", "--out", "play.mp4"], "play.mp4 ends in none of"),
        (["random", "random", "--game", "Reaching", "--fps", "0"], "fps is 0"),
    ],
)
def test_mistakes_get_one_line(arguments, complaint, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["play", *arguments])
    assert stop.value.code == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert complaint in line


def test_a_small_gif_shows_the_beginning_and_the_end_and_few_moments_between(game, generator):
    frames = record(game, 1, generator)[:20]
    data = small_gif(game, frames, pixels=80, most=5)
    with Image.open(io.BytesIO(data)) as image:
        durations = []
        for number in range(image.n_frames):
            image.seek(number)
            durations.append(image.info["duration"])
        assert image.size == (80, 80)
        assert 1 < image.n_frames <= 5  # moments that look alike are one frame
        # As long as all 20 at three per second, but for the last, which stays a while.
        assert sum(durations[:-1]) == pytest.approx(20 / 3 * 1000 * 4 / 5, rel=0.35)
    assert len(data) < 20_000
    with Image.open(io.BytesIO(small_gif(game, frames[:1] + frames[-1:], pixels=80))) as only:
        only.seek(only.n_frames - 1)
        last = only.convert("RGB")
    with Image.open(io.BytesIO(data)) as image:
        image.seek(image.n_frames - 1)
        difference = np.abs(np.asarray(image.convert("RGB")).astype(int) - np.asarray(last)).mean()
    assert difference < 3  # the same picture, but for its palette
