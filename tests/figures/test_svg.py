import re
from xml.etree import ElementTree

from brdiv.figures import Curve, as_svg, band_chart, diversity_chart, interval_chart, method_colours, page_ink
from brdiv.figures.svg import FAINT, INK

COLOURS = method_colours(["BRDiv", "Independent"])


def intervals(label="a figure <of two>"):
    with page_ink():
        panels = {"with heuristics": {"BRDiv": (0.8, 0.7, 0.9), "Independent": (0.5, float("nan"), float("nan"))}}
        figure, hover = interval_chart(panels, COLOURS, "return")
    return as_svg(figure, label, hover)


def test_text_and_axes_take_the_ink_of_the_page():
    text = intervals()
    assert INK not in text
    assert FAINT not in text
    assert "currentColor" in text
    assert "var(--faint)" in text
    assert not re.search(r"fill: ?#(?:fff|ffffff|000|000000)\b", text)  # no ground of its own


def test_it_is_an_element_that_says_what_it_shows():
    root = ElementTree.fromstring(intervals())
    assert root.get("aria-label") == "a figure <of two>"
    assert root.get("viewBox").startswith("0 0 ")
    assert "with heuristics" in "".join(root.itertext())


def test_points_and_intervals_say_more_when_hovered_over_and_carry_the_class_of_their_method():
    text = intervals()
    assert text.count("<title>BRDiv: 0.800 [0.700, 0.900]</title>") == 2
    assert text.count("<title>Independent: 0.500</title>") == 2
    assert text.count('<g class="m0">') == text.count('<g class="m1">') == 2


def test_ids_of_two_figures_never_meet():
    first, second = (set(re.findall(r'id="([^"]*)"', intervals())) for _ in range(2))
    assert first
    assert not first & second
    assert set(re.findall(r"url\(#([^)]*)\)", text := intervals())) <= set(re.findall(r'id="([^"]*)"', text))


def test_a_line_leads_through_the_points_of_runs():
    points = [("BRDiv", "BRDiv seed 0", 20.0, 0.9), ("Independent", "Independent seed 0", 5.0, 0.5)]
    points += [("BRDiv", "BRDiv seed 1", 10.0, 0.7)]
    figure, hover = diversity_chart(points, COLOURS, "BRDiv", "return")
    line = figure.axes[0].lines[-1]
    assert list(line.get_xdata()) == [5.0, 20.0]
    assert hover["0.m0"] == "BRDiv seed 0: BRDiv 20.00, return 0.900"


def test_bands_hold_all_seeds_and_a_single_one_has_none():
    wide = Curve([0, 1e6], [0.1, 0.5], [0.0, 0.3], [0.2, 0.7], seeds=3)
    alone = Curve([0, 1e6], [0.1, 0.4], [0.1, 0.4], [0.1, 0.4], seeds=1)
    figure, hover = band_chart({"return": {"BRDiv": wide, "Independent": alone}}, COLOURS)
    assert list(hover.values()) == [
        "BRDiv: all of 3 seeds",
        "BRDiv: mean of 3 seeds, at the end 0.500",
        "Independent: mean of 1 seed, at the end 0.400",
    ]
    assert len(figure.axes[0].collections) == 1


def test_variants_of_a_method_are_shades_and_no_two_methods_look_the_same():
    colours = method_colours(
        ["BRDiv", "Independent", "TrajeDi0", "TrajeDi05", "TrajeDi1", "AnyPlay", "L-BRDiv", "LIPO"]
    )
    assert len(set(colours.values())) == 8
    channels = [
        [int(colours[name][at : at + 2], 16) for at in (1, 3, 5)] for name in ("TrajeDi0", "TrajeDi05", "TrajeDi1")
    ]
    assert [max(range(3), key=shade.__getitem__) for shade in channels] == [2, 2, 2]  # all of them are blue
    assert sum(channels[0]) < sum(channels[1]) < sum(channels[2])
