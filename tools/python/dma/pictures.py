"""Pictures of series and tables for notebooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Optional


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells are text."""
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def with_table(picture: Optional[str], beliefs: str) -> str:
    return f"<div>{picture or ''}{beliefs}</div>"


def band(values: Any, middle: Any, low: Any, high: Any, title: str, times: Optional[list[str]]) -> str:
    """A series as a picture: points that were seen, the median, and what 95 % of values are within."""
    width, height, edge = 640.0, 260.0, 46.0
    shown = [float(v) for v in (*values, *low, *high) if math.isfinite(v)]
    bottom, top = min(shown), max(shown)
    last = max(len(middle) - 1, 1)

    def at(t: int, value: float) -> str:
        y = height - edge / 2 - (height - edge) * (value - bottom) / ((top - bottom) or 1)
        return f"{edge + (width - edge - 8) * t / last:.1f},{y:.1f}"

    around = " ".join([at(t, v) for t, v in enumerate(low)] + [at(t, high[t]) for t in reversed(range(len(high)))])
    points = "".join(
        '<circle cx="{}" cy="{}" r="1.8"/>'.format(*at(t, v).split(",")) for t, v in enumerate(values) if math.isfinite(v)
    )
    names = times or [str(t) for t in range(len(middle))]
    labels = "".join(
        f'<text x="{at(t, bottom).split(",")[0]}" y="{height - 6}" text-anchor="middle">{escape(names[t])}</text>'
        for t in sorted({len(middle) // 8, len(middle) // 2, len(middle) - 1 - len(middle) // 8})
    )
    labels += "".join(
        '<text x="{}" y="{}" text-anchor="end">{:.4g}</text>'.format(edge - 6, at(0, v).split(",")[1], v) for v in (bottom, (bottom + top) / 2, top)
    )
    return (
        f'<div><p>{escape(title)}</p><svg width="{width:g}" height="{height:g}" font-size="11" font-family="sans-serif">'
        f'<polygon points="{around}" fill="#9ecae1" opacity="0.6"/>'
        f'<polyline points="{" ".join(at(t, v) for t, v in enumerate(middle))}" fill="none" stroke="#08519c"/>{points}{labels}</svg></div>'
    )
