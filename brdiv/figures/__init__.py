"""Every plot, picture and animation."""

from brdiv.figures.curves import belief_chart, recognition_chart, scaling_chart
from brdiv.figures.episodes import caption, draw_frame, print_frames, save_gif, save_strip
from brdiv.figures.heatmaps import cross_play_heatmap, evaluation_heatmap
from brdiv.figures.image import as_image
from brdiv.figures.phases import phase_chart

__all__ = [
    "as_image",
    "belief_chart",
    "caption",
    "cross_play_heatmap",
    "draw_frame",
    "evaluation_heatmap",
    "phase_chart",
    "print_frames",
    "recognition_chart",
    "save_gif",
    "save_strip",
    "scaling_chart",
]
