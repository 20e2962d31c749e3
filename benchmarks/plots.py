"""Bar charts as SVG, without a library."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_COLOURS = ("#1f6feb", "#8c959f", "#2da44e", "#cf222e", "#bf8700", "#8250df")

_LABELS = 170
"""The width for names, to the left of the bars."""

_BARS = 470
_NUMBERS = 90
_BAR = 13
_GAP = 26
_TOP = 44


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar.

    :param name: its label.
    :param text: the value as text.
    """

    name: str
    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Bars with a common scale. Groups have different scales, since operations differ by orders of magnitude."""

    title: str
    bars: Sequence[Bar]


def bars(title: str, groups: Sequence[Group], names: Sequence[str]) -> str:
    """A chart of horizontal bars.

    :param names: the names of all bars; the order decides their colours.
    """
    colours = dict(zip(names, _COLOURS, strict=False))
    parts: list[str] = []
    y = _TOP
    for group in groups:
        y += _GAP
        parts.append(f'<text x="12" y="{y - 8}" class="group">{escape(group.title)}</text>')
        largest = max((bar.value for bar in group.bars), default=0) or 1
        for bar in group.bars:
            width = max(1.0, bar.value / largest * _BARS)
            middle = y + _BAR - 3
            parts.append(f'<text x="{_LABELS - 8}" y="{middle}" text-anchor="end">{escape(bar.name)}</text>')
            parts.append(
                f'<rect x="{_LABELS}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" fill="{colours[bar.name]}"/>'
            )
            parts.append(f'<text x="{_LABELS + width + 6:.1f}" y="{middle}">{escape(bar.text)}</text>')
            y += _BAR
    width, height = _LABELS + _BARS + _NUMBERS, y + 16
    style = (
        "text { font: 11px system-ui, sans-serif; fill: #1f2328 }"
        " .title { font-size: 15px; font-weight: 600 } .group { font-weight: 600 }"
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" aria-label="{escape(title)}">'
    )
    frame = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    heading = f'<text x="12" y="26" class="title">{escape(title)}</text>'
    return "\n".join([head, f"<style>{style}</style>", frame, heading, *parts, "</svg>"]) + "\n"
