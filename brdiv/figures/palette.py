"""A colour for every method, readable on white and on black; variants of one method are shades of one colour."""

import colorsys
import re
from collections.abc import Sequence

HUES = ("#e4572e", "#7d8590", "#1f9bb4", "#d99a00", "#8367d8", "#3a9e57", "#d0539b", "#4f7fe0", "#a0703c", "#5c9a94")


def family(label: str) -> str:
    """Name a method without the figure that tells its variants apart.

    >>> family("TrajeDi025"), family("BRDiv")
    ('TrajeDi', 'BRDiv')
    """
    return re.sub(r"[\d.]+$", "", label) or label


def method_colours(labels: Sequence[str]) -> dict[str, str]:
    """Give every method a colour."""
    families: dict[str, list[str]] = {}
    for label in labels:
        families.setdefault(family(label), []).append(label)
    colours = {}
    for number, members in enumerate(families.values()):
        hue = HUES[number % len(HUES)]
        red, green, blue = (int(hue[at : at + 2], 16) / 255 for at in (1, 3, 5))
        angle, light, depth = colorsys.rgb_to_hls(red, green, blue)
        for place, label in enumerate(members):
            if len(members) > 1:
                light = 0.34 + 0.34 * place / (len(members) - 1)
            shade = colorsys.hls_to_rgb(angle, light, depth)
            colours[label] = "#" + "".join(f"{round(255 * part):02x}" for part in shade)
    return colours
