"""Figures as SVG inside a page: they take the page's ink, in light and dark, and say more when hovered over."""

import io
import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure

INK, FAINT = "#010203", "#030201"
"""What stands for the page's ink, and for its fainter one, while a figure is drawn: colours that nothing else has."""

NUMBERS = itertools.count()


@contextmanager
def page_ink() -> Iterator[None]:
    """Draw text, axes and ticks of the figures made inside in the page's ink, on no ground of their own."""
    ink = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK)
    faint = dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color", "grid.color"), FAINT)
    ground = dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor", "legend.facecolor"), "none")
    # Letters stay letters: smaller, sharper, and they can be searched for.
    settings: dict[Any, Any] = {**ink, **faint, **ground, "svg.fonttype": "none", "font.size": 9}
    with matplotlib.rc_context(settings):
        yield


def as_svg(figure: Figure, label: str, hover: Mapping[str, str] | None = None) -> str:
    """Write a figure that was made in `page_ink` as an SVG element, described by ``label``.

    ``hover`` says what is shown over the artists with these gids. What follows a gid's last dot is a class of the
    element, so that one style or script can reach all artists of a kind.
    """
    buffer = io.StringIO()
    with page_ink():
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = text.replace(INK, "currentColor").replace(FAINT, "var(--faint)")
    # Ids must be unique in the page: those that are referred to get a prefix, all others go.
    prefix = f"f{next(NUMBERS)}-"
    text = re.sub(r'<g id="(?:[a-zA-Z]+\d?_)+\d+"', "<g", text)
    text = re.sub(r'(\bid="|url\(#|href="#)', lambda found: found.group(1) + prefix, text)
    for gid, title in (hover or {}).items():
        mark = f'<g id="{prefix}{gid}">'
        text = text.replace(mark, f'<g class="{gid.rpartition(".")[2]}"><title>{escape(title)}</title>')
    head = re.compile(r'<svg [^>]*?width="([\d.]+)pt" height="([\d.]+)pt"[^>]*>').match(text)
    assert head is not None, "matplotlib writes the size of a figure first"
    width, height = (round(float(size)) for size in head.groups())
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 {width} '
        f'{height}" style="--width:{width}pt" role="img" aria-label="{escape(label)}">'
    )
    return re.sub(r"\n\s*", "\n", opening + text[head.end() :])
