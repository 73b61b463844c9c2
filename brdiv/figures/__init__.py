"""Every plot, picture and animation."""

from brdiv.figures.curves import belief_chart, recognition_chart, scaling_chart
from brdiv.figures.episodes import caption, draw_frame, print_frames, save_gif, save_strip, small_gif
from brdiv.figures.heatmaps import cross_play_heatmap, evaluation_heatmap, share_heatmap
from brdiv.figures.image import as_image
from brdiv.figures.palette import method_colours
from brdiv.figures.phases import phase_chart
from brdiv.figures.studies import Curve, band_chart, diversity_chart, interval_chart
from brdiv.figures.svg import as_svg, page_ink

__all__ = [
    "Curve",
    "as_image",
    "as_svg",
    "band_chart",
    "belief_chart",
    "caption",
    "cross_play_heatmap",
    "diversity_chart",
    "draw_frame",
    "evaluation_heatmap",
    "interval_chart",
    "method_colours",
    "page_ink",
    "phase_chart",
    "print_frames",
    "recognition_chart",
    "save_gif",
    "save_strip",
    "scaling_chart",
    "share_heatmap",
    "small_gif",
]
