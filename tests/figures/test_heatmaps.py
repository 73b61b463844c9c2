import numpy as np
import torch

from brdiv.figures import as_image, cross_play_heatmap


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
