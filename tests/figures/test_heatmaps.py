import math

import numpy as np
import pytest
import torch

from brdiv.figures import as_image, cross_play_heatmap, evaluation_heatmap, share_heatmap


def test_every_entry_is_written_into_its_cell():
    matrix = torch.tensor([[1.0, 0.25], [0.0, 0.75]])
    figure = cross_play_heatmap(matrix, "a title")
    axes, _ = figure.axes
    assert {(text.get_position(), text.get_text()) for text in axes.texts} == {
        ((0, 0), "1.00"), ((1, 0), "0.25"), ((0, 1), "0.00"), ((1, 1), "0.75"),
    }  # fmt: skip
    assert "a title" in figure.get_suptitle()
    assert "diagonal 0.875" in figure.get_suptitle()


def test_a_figure_becomes_pixels():
    image = as_image(cross_play_heatmap(torch.eye(3)))
    assert image.dtype == np.uint8
    assert image.shape[-1] == 3
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


ONE, SEVERAL, SEEN = (0.5, math.nan, math.nan), (0.5, 0.4, 0.6), (math.nan,) * 3


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ((ONE, ONE), "one seed"),
        ((SEVERAL, SEVERAL), "mean and 95 % interval over seeds"),
        ((SEVERAL, SEEN), "mean and 95 % interval over seeds"),
        ((SEVERAL, ONE), "mean and 95 % interval over seeds; no interval: one seed"),
    ],
)
def test_a_heatmap_claims_intervals_only_where_there_are_several_seeds(cells, said):
    figure = evaluation_heatmap(["A", "B"], ["H1"], [cells], "a title")
    assert figure.get_suptitle() == f"a title\n{said}"
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert [("[" in text) for text in texts] == [cell is SEVERAL for cell in cells]


def test_shares_are_framed_where_one_response_serves_both_and_grey_where_a_team_was_left_out():
    shares = torch.tensor([[1.0, 0.94, torch.nan], [0.94, 0.95, torch.nan], [torch.nan] * 3], dtype=torch.float64)
    axes = share_heatmap(shares, 0.95, "BRDiv\n$needed$").axes[0]
    assert sorted(text.get_text() for text in axes.texts) == ["0.94", "0.94", "0.95", "1.00"]
    assert [patch.get_xy() for patch in axes.patches] == [(-0.46, -0.46), (0.54, 0.54)]
