import json

import pytest
import torch

from brdiv.commands import main
from brdiv.errors import UserError
from brdiv.games import shipped_games
from brdiv.runs import PlayedEpisode, read_episodes


def random_episode(name, generator, steps=12):
    game = shipped_games()[name](horizon=steps)
    state = game.initial(1, generator)
    views, actions, rewards, won = [game.view(state)[0].tolist()], [], [], False
    while len(actions) < steps and not won:
        action = torch.randint(game.n_actions, (1, 2), generator=generator)
        state, reward, done = game.step(state, action)
        views.append(game.view(state)[0].tolist())
        actions.append(action[0].tolist())
        rewards.append(float(reward))
        won = bool(done)
    return PlayedEpisode(game, ("H1", "person"), views, actions, rewards, won)


@pytest.mark.parametrize("name", shipped_games())
def test_an_episode_is_read_as_it_was_written(name, generator, tmp_path):
    path = tmp_path / "episodes.jsonl"
    written = [random_episode(name, generator) for _ in range(3)]
    path.write_text("".join(episode.to_line() for episode in written))
    read = read_episodes(path)
    assert [episode[1:] for episode in read] == [episode[1:] for episode in written]
    assert all(one.game.same_as(other.game) for one, other in zip(read, written, strict=True))
    assert [frame.view for frame in read[0].frames()] == [both[0] for both in written[0].views]


def changed(entry, path, value):
    *way, last = path
    inner = entry
    for key in way:
        inner = inner[key]
    inner[last] = value
    return entry


def test_an_episode_that_begins_off_the_grid_is_refused_before_anything_is_shown(tmp_path, capsys):
    file = tmp_path / "episodes.jsonl"
    off = [[[-1280, 0, 3, 3], [3, 3, -1280, 0]]]  # as both seats see it
    file.write_text(PlayedEpisode(shipped_games()["Reaching"](), ("H1", "H2"), off, [], [], False).to_line())
    with pytest.raises(SystemExit, match="2"):
        main(["play", "--replay", str(file)])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "is not an episode, or is damaged" in shown.err


@pytest.mark.parametrize(
    ("path", "value", "complaint"),
    [
        (["views", 3, 0, 0], 99, "the rules give something else"),
        (["views", 0, 0, 0], -0.5, "views are not of its game"),
        (["views", 0, 0, 9], -1280, "begin in different places|index out of range"),
        (["views", 0, 1, 9], 77, "begin in different places"),
        (["rewards", 2], 1.0, "the rules give something else in step 3"),
        (["actions", 0, 1], 77, "actions that there are not"),
        (["actions"], [], "one view, action and reward"),
        (["views"], "x", "one view, action and reward"),
        (["won"], True, "another end"),
        (["format"], 2, "not of format 1"),
        (["format"], True, "not of format 1"),
        (["rewards", 2], float("nan"), "its description can't be read"),
        (["rewards", 2], 1e999, "its description can't be read"),
        (["rewards", 2], "0", "its rewards are no numbers"),
        (["rewards", 2], 10**400, "not an episode"),
        (["seats"], ["one"], "who sat in the two seats"),
        (["seats"], [[], {}], "who sat in the two seats"),
    ],
)
def test_an_episode_that_the_rules_do_not_give_is_refused(path, value, complaint, generator, tmp_path):
    file = tmp_path / "episodes.jsonl"
    entry = json.loads(random_episode("LBF", generator).to_line())
    file.write_text(json.dumps(changed(entry, path, value)))
    with pytest.raises(UserError, match=complaint):
        read_episodes(file)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"3\n", b"[" * 5000])
def test_a_file_of_something_else_gets_one_line(content, tmp_path, capsys):
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(content)
    with pytest.raises(SystemExit) as stop:
        main(["play", "--replay", str(file)])
    assert stop.value.code == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_a_replay_is_drawn(generator, tmp_path, capsys):
    file = tmp_path / "episodes.jsonl"
    file.write_text(random_episode("Cooking", generator).to_line())
    main(["play", "--replay", str(file), "--out", str(tmp_path / "again.gif")])
    assert "13 frames" in capsys.readouterr().out
    assert (tmp_path / "again.gif").read_bytes().startswith(b"GIF")
