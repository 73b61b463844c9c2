from brdiv.report.curves import curve


def test_a_curve_begins_where_all_seeds_have_begun_and_ends_where_the_first_ends():
    found = curve([[(0, 0.0), (100, 1.0)], [(50, 1.5), (200, 3.0)]])
    assert (found.steps[0], found.steps[-1]) == (50, 100)
    assert (found.middle[0], found.middle[-1]) == (1.0, 1.5)
    assert (found.low[0], found.high[0]) == (0.5, 1.5), "the band holds all seeds"
    assert (found.low[-1], found.high[-1]) == (1.0, 2.0)
    assert found.seeds == 2
