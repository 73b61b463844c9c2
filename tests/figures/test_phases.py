from brdiv.figures import phase_chart
from brdiv.runs.phases import Phases


def test_every_run_has_a_line_for_its_own_and_one_for_others():
    runs = {
        "seed 1": Phases([1_000_000, 2_000_000], [0.5, 1.0], [0.3, 0.0], [1_000_000], [3.0]),
        "seed 2": Phases([1_000_000], [0.25], [0.125], [], []),
    }
    returns, weights = phase_chart(runs, "title").axes
    assert [list(line.get_ydata()) for line in returns.lines] == [[0.5, 1.0], [0.3, 0.0], [0.25], [0.125]]
    assert [list(line.get_xdata()) for line in returns.lines[:2]] == [[1.0, 2.0]] * 2
    assert [list(line.get_ydata()) for line in weights.lines] == [[3.0], []]


def test_weights_that_were_constant_need_no_panel():
    assert len(phase_chart({"seed 1": Phases([1], [0.5], [0.3], [], [])}).axes) == 1


def test_returns_above_one_are_not_cut_off():
    (axes,) = phase_chart({"seed 1": Phases([1], [7.0], [0.3], [], [])}).axes
    assert axes.get_ylim()[1] > 7
