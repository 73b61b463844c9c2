from functools import partial

import pytest
import yaml
from brdiv.configs import shipped_configs

from brdiv.commands.line.resolving import resolve
from brdiv.errors import UserError
from brdiv.study.plan import Measuring, read_study
from brdiv.study.settings import resolve_all


def study(folder, **given):
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({"games": ["reaching"], "methods": ["base"], **given}))
    return read_study(str(path))


def names(folder, **given):
    return [cell.name for cell in study(folder, **given).cells(folder)]


def test_cells_are_games_by_methods_by_seeds_in_the_order_given(tmp_path):
    found = names(tmp_path, games=["lbf", "reaching"], methods=["base", "lipo"], seeds="3-4")
    assert found == [f"{g}/{m}/seed{s}" for g in ("lbf", "reaching") for m in ("base", "lipo") for s in (3, 4)]


def test_a_further_block_says_only_what_differs(tmp_path):
    found = names(tmp_path, seeds=[0, 2], also=[{"methods": ["lipo"]}, {"seeds": 7}])
    assert found == ["reaching/base/seed0", "reaching/base/seed2", "reaching/base/seed7", "reaching/lipo/seed0",
                     "reaching/lipo/seed2"]  # fmt: skip


def test_a_method_is_put_on_top_of_its_game(tmp_path):
    (group,) = study(tmp_path, methods=["lipo"]).groups
    assert group.configs == (shipped_configs()["reaching"], shipped_configs()["methods/lipo"])
    (group,) = study(tmp_path).groups
    assert group.configs == (shipped_configs()["reaching"],)


def test_own_files_are_named_by_their_stem(tmp_path):
    mine = tmp_path / "restless.yaml"
    mine.write_text("model: { objective: Independent }\n")
    (cell,) = study(tmp_path, methods=[str(mine)]).cells(tmp_path / "out")
    assert cell.run.path == tmp_path / "out/cells/reaching/restless/seed0"


def test_evaluation_is_as_asked_for_and_otherwise_as_always(tmp_path):
    assert study(tmp_path, evaluation={"episodes": 3}).evaluation == Measuring(episodes=3)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"game": ["lbf"]}, "no such setting game; did you mean games"),
        ({"evaluation": {"episode": 3}}, "evaluation: no such setting episode; did you mean episodes"),
        ({"also": [{"method": ["lipo"]}]}, "also, block 1: no such setting method"),
        ({"also": [{"methods": ["base"]}]}, "reaching/base is there twice with seed 0"),
        ({"also": [{"overrides": {"data": {"steps": 9}}, "seeds": 4}]}, "two methods are called reaching/base"),
        ({"games": ["nowhere"]}, "no config file nowhere"),
        ({"methods": ["magic"]}, "no config file magic"),
        ({"methods": []}, "methods is missing"),
        ({"seeds": "x"}, "seeds 'x'"),
        ({"seeds": [True]}, "seeds is"),
        ({"overrides": {"run": "here"}}, "run is set for each cell"),
        ({"overrides": [1]}, "overrides is no mapping"),
        ({"evaluation": {"episodes": 0}}, "episodes is 0"),
        ({"threads": 0}, "threads is 0"),
        ({"gpus": -1}, "gpus is -1"),
        ({"gpus": float("nan")}, "gpus is nan"),
        ({"gpus": 10**400}, "gpus is 1000"),
        ({"threads": 10**9}, "threads is 1000000000: it must be a whole number from 1 to 1,024"),
        ({"evaluation": {"episodes": 10**12}}, "episodes is 1000000000000: it must be a whole number from 1 to"),
        ({"evaluation": {"seed": 2**32}}, "seed is 4294967296"),
        ({"evaluation": False}, "evaluation is False"),
        ({"overrides": False}, "overrides is no mapping"),
        ({"also": 0}, "also is no list"),
        ({"seeds": 2**32}, "seeds is 4294967296"),
        ({"seeds": "0-9999999999"}, "no seed is above 4,294,967,295"),
    ],
)
def test_mistakes_are_named(tmp_path, given, complaint):
    with pytest.raises(UserError, match=complaint):
        study(tmp_path, **given)


def test_what_is_not_yaml_is_refused(tmp_path):
    (tmp_path / "broken.yaml").write_text("games: [reaching")
    with pytest.raises(UserError, match="is not YAML"):
        read_study(str(tmp_path / "broken.yaml"))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (f"seeds: {'9' * 5000}", "a number of a thousand digits"),
        (f"threads: 0x{'f' * 5000}", "a number of a thousand digits"),
        (f"also: [{{ seeds: 0x{'f' * 5000} }}]", "a number of a thousand digits"),
    ],
)
def test_a_number_that_python_can_not_write_is_refused(tmp_path, line, complaint):
    (tmp_path / "long.yaml").write_text(f"games: [reaching]\nmethods: [base]\n{line}\n")
    with pytest.raises(UserError, match=complaint):
        read_study(str(tmp_path / "long.yaml"))


def test_the_papers_study_has_its_eight_methods_with_five_seeds_on_three_games(tmp_path):
    cells = read_study("paper").cells(tmp_path)
    own = [cell for cell in cells if cell.method not in {"lbrdiv", "lipo"}]
    assert len(own) == 3 * 8 * 5
    assert {cell.seed for cell in own} == set(range(500, 505))
    for game in ("reaching", "lbf", "cooking"):
        assert len({cell.method for cell in own if cell.game == game}) == 8
    assert len(cells) - len(own) == 3 * 2 * 3


@pytest.mark.parametrize("name", [name for name in shipped_configs() if name.startswith("studies/")])
def test_every_shipped_study_can_be_built(name, tmp_path):
    planned = read_study(name)
    # Each game and each method once: all of them together would take long.
    by_game, by_method = ({group[part]: group for group in reversed(planned.groups)} for part in (0, 1))
    groups = list({group.name: group for group in (*by_game.values(), *by_method.values())}.values())
    found = resolve_all(planned, groups, tmp_path, partial(resolve_with, "blas"))
    assert len(found) == sum(1 + len(group.learners) for group in groups)
    assert all(resolved.steps > 0 for resolved in found.values())


def resolve_with(library, command, arguments, overrides, kept):
    """Without measuring which library is faster."""
    return resolve(command, arguments, overrides, {"model": {"products": library}})
