"""Charts: lines over steps as inline SVG, readable on a phone, with interventions marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ..document import Mark
from .element import Html, el, join

WIDTH, HEIGHT = 460.0, 190.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 10.0, 12.0, 26.0

Values = Sequence[float]


def line_chart(
    title: str,
    steps: Sequence[int],
    lines: Sequence[tuple[str, Values]],
    *,
    show: Callable[[float], str],
    marks: Sequence[Mark] = (),
    top: float | None = None,
    empty: str = "No data.",
    step_like: bool = False,
) -> Html:
    """One chart; each line has a name, which is also its class. `top` fixes the upper end of the axis."""
    highest = max((max(values, default=0.0) for _, values in lines), default=0.0)
    if not steps or highest <= 0:
        return el("figure.chart", el("figcaption", title), el("p.empty", empty))
    ceiling = top if top is not None else nice_ceiling(highest)
    x = _scale(steps[0], max(steps[-1], steps[0] + 1), LEFT, WIDTH - RIGHT)
    y = _scale(0.0, ceiling, HEIGHT - BOTTOM, TOP)
    parts = [*_axis_y(ceiling, y, show), *_axis_x(steps, x), *_marks(marks, steps, x)]
    for name, values in lines:
        points = _stairs(steps, values) if step_like else list(zip(steps, values, strict=True))
        drawn = " ".join(f"{x(step):.1f},{y(min(value, ceiling)):.1f}" for step, value in points)
        if name == lines[0][0]:
            area = f"{x(steps[0]):.1f},{y(0):.1f} {drawn} {x(steps[-1]):.1f},{y(0):.1f}"
            parts.append(el(f"polyline.area {name}", points=area))
        parts.append(el(f"polyline.line {name}", points=drawn))
    last = [show(values[-1]) for _, values in lines]
    legend = _legend([name for name, _ in lines], last) if len(lines) > 1 else el("b", last[0])
    label = f"{title}: {', '.join(last)} at step {steps[-1]}"
    svg = el("svg", *parts, viewBox=f"0 0 {WIDTH:.0f} {HEIGHT:.0f}", role="img", aria_label=label)
    return el("figure.chart", el("figcaption", title, " ", legend), svg)


def nice_ceiling(value: float) -> float:
    """The next round number: 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(value))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= value * 0.999)


def short(value: float) -> str:
    """A number in few letters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def strip(steps: int, marks: Sequence[tuple[int, str, str]]) -> Html:
    """A whole trace as one strip with marks (step, class, words)."""
    x = _scale(0, max(steps, 1), 0.0, 1000.0)
    parts = [el("rect.base", x=0, y=11, width=1000, height=2)]
    for step, kind, words in marks:
        # Findings are above the line, interventions below it: often both belong to one step.
        top = 13 if kind == "answer" else 1
        left = f"{x(step) - 3:.1f}"
        parts.append(el(f"rect.{kind}", el("title", words), x=left, y=top, width=6, height=10, rx=2))
    label = f"{steps} steps, {len(marks)} marks"
    return el("svg.strip", *parts, viewBox="-4 0 1008 24", preserveAspectRatio="none", role="img", aria_label=label)


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    span = (high - low) or 1.0
    return lambda value: start + (value - low) / span * (end - start)


def _axis_y(ceiling: float, y: Callable[[float], float], show: Callable[[float], str]) -> list[Html]:
    parts = []
    for share in (0.0, 0.5, 1.0):
        value = ceiling * share
        at = f"{y(value):.1f}"
        parts.append(el("line.grid", x1=LEFT, x2=WIDTH - RIGHT, y1=at, y2=at))
        parts.append(el("text.tick end", show(value), x=LEFT - 6, y=f"{y(value) + 4:.1f}"))
    return parts


def _axis_x(steps: Sequence[int], x: Callable[[float], float]) -> list[Html]:
    first, last = steps[0], steps[-1]
    parts = []
    for value, side in ((first, "start"), ((first + last) // 2, "middle"), (last, "end")):
        word = f"step {value:,}" if side == "middle" else f"{value:,}"
        parts.append(el(f"text.tick {side}", word, x=f"{x(value):.1f}", y=HEIGHT - 8))
    return parts


def _marks(marks: Sequence[Mark], steps: Sequence[int], x: Callable[[float], float]) -> list[Html]:
    parts = []
    for mark in marks:
        if steps[0] <= mark.step <= steps[-1]:
            at = f"{x(mark.step):.1f}"
            words = el("title", f"step {mark.step}: {mark.text.replace('_', ' ')}")
            parts.append(el(f"line.mark rung{mark.level}", words, x1=at, x2=at, y1=TOP, y2=HEIGHT - BOTTOM))
    return parts


def _legend(names: Sequence[str], last: Sequence[str]) -> Html:
    return join(el(f"span.key {name}", name, " ", el("b", value)) for name, value in zip(names, last, strict=True))


def _stairs(steps: Sequence[int], values: Values) -> list[tuple[int, float]]:
    """The points of a step chart: a count holds until the next change."""
    points: list[tuple[int, float]] = []
    for step, value in zip(steps, values, strict=True):
        if points and points[-1][1] != value:
            points.append((step, points[-1][1]))
        points.append((step, value))
    return points
