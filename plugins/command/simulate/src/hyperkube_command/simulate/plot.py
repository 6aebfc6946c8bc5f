"""The nodes' utilisation before and after, drawn: an SVG, or a page that holds it. Nothing is loaded from elsewhere.

One panel per configuration, one row per node with a bar each for cpu and memory: dark what was requested before, light
what came, red what went.
"""

from __future__ import annotations

from html import escape

from hyperkube_command.simulate.report import Outcomes, as_text
from hyperkube_host.scheduler.simulation import SimulationResult, Use

COLOURS = {"cpu": ("#1f5fa8", "#8fbbe8"), "memory": ("#2f7d4f", "#9fd3b2")}
"""Resource → before, added."""
GONE = "#d9534f"
BAR, GAP, TOP, LABEL, WIDTH, MARGIN = 9, 6, 58, 150, 360, 24
ROW = 2 * BAR + GAP
NAME_LETTERS = 22


def svg(outcomes: Outcomes) -> str:
    """Return the drawing."""
    nodes = max((len(each.after) for each in outcomes.values()), default=0)
    panel = LABEL + WIDTH + 2 * MARGIN
    width, height = panel * max(1, len(outcomes)), TOP + nodes * ROW + MARGIN
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for number, (name, outcome) in enumerate(outcomes.items()):
        parts.append(f'<g transform="translate({number * panel + MARGIN},0)">')
        parts += _panel(name, outcome, height)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"]) + "\n"


def page(outcomes: Outcomes) -> str:
    """Return a page with the drawing and the tables."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Simulated scheduling</title></head>\n'
        f"<body>\n{svg(outcomes)}<pre>{escape(as_text(outcomes))}</pre>\n</body></html>\n"
    )


def _panel(name: str, outcome: SimulationResult, height: int) -> list[str]:
    said = f"{len(outcome.placed)} placed, {len(outcome.pending)} pending, {len(outcome.evicted)} evicted"
    parts = [
        f'<text x="0" y="20" font-size="14" font-weight="bold">{escape(name)}</text>',
        f'<text x="0" y="36" fill="#555">{said}</text>',
        *_legend(),
    ]
    for share in (0, 25, 50, 75, 100):
        x = LABEL + WIDTH * share / 100
        parts.append(f'<line x1="{x:g}" y1="{TOP - 4}" x2="{x:g}" y2="{height - MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{x:g}" y="{height - 8}" text-anchor="middle" fill="#555">{share}%</text>')
    for row, (node, after) in enumerate(outcome.after.items()):
        y = TOP + row * ROW
        shown = node if len(node) <= NAME_LETTERS else f"{node[: NAME_LETTERS - 1]}…"
        parts.append(f'<text x="{LABEL - 6}" y="{y + ROW - GAP - 5}" text-anchor="end">{escape(shown)}</text>')
        for bar, resource in enumerate(COLOURS):
            parts += _bar(node, resource, outcome.before[node][resource], after[resource], y + bar * BAR)
    return parts


def _bar(node: str, resource: str, before: Use, after: Use, y: float) -> list[str]:
    dark, light = COLOURS[resource]
    stays, comes = min(before.share, after.share), max(before.share, after.share)
    title = f"<title>{escape(node)}: {resource} {before.share:.1%} -> {after.share:.1%}</title>"
    colour = light if after.share >= before.share else GONE
    parts = []
    for low, high, fill in ((0.0, stays, dark), (stays, comes, colour)):
        start, end = (LABEL + WIDTH * min(share, 1.0) for share in (low, high))
        if end > start:
            size = f'width="{end - start:.2f}" height="{BAR - 1}"'
            parts.append(f'<rect x="{start:.2f}" y="{y:g}" {size} fill="{fill}">{title}</rect>')
    return parts


def _legend() -> list[str]:
    rows = [
        (f"{resource} {when}", colour)
        for resource, pair in COLOURS.items()
        for when, colour in zip(("before", "added"), pair, strict=True)
    ]
    rows.append(("went", GONE))
    parts = []
    x = LABEL
    for text, colour in rows:
        parts.append(f'<rect x="{x}" y="42" width="8" height="8" fill="{colour}"/>')
        parts.append(f'<text x="{x + 11}" y="50" font-size="9" fill="#555">{text}</text>')
        x += 16 + 5 * len(text)
    return parts
