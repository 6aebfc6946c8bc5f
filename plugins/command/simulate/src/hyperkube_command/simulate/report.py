"""The outcomes of simulations as text and as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hyperkube_host.scheduler.simulation import RESOURCES, SimulationResult, Use, Uses

from hyperkube.machinery.objects import Object

Outcomes = Mapping[str, SimulationResult]
"""What a configuration is called → what came of it."""


def as_data(outcomes: Outcomes) -> Object:
    """Return everything as plain data; quantities in milli-cpu, bytes and pieces."""
    return {"simulations": [{"configuration": name, **_one(outcome)} for name, outcome in outcomes.items()]}


def as_text(outcomes: Outcomes) -> str:
    """Return the summary, the pods that stay pending, those evicted, and each node before and after."""
    blocks = [_table(_summary(outcomes))]
    pending = [[pod, name, why] for name, each in outcomes.items() for pod, why in sorted(each.pending.items())]
    if pending:
        blocks.append(_table([["PENDING POD", "CONFIGURATION", "REASON"], *pending]))
    evicted = [[pod, name, node] for name, each in outcomes.items() for pod, node in sorted(each.evicted.items())]
    if evicted:
        blocks.append(_table([["EVICTED POD", "CONFIGURATION", "FROM NODE"], *evicted]))
    blocks.append(_table(_nodes(outcomes)))
    return "\n\n".join(blocks)


def total(uses: Uses, resource: str) -> Use:
    """Return a resource's use over all nodes."""
    rows = [each[resource] for each in uses.values()]
    return Use(sum(row.requested for row in rows), sum(row.allocatable for row in rows))


def _one(outcome: SimulationResult) -> Object:
    nodes = [
        {
            "node": name,
            **{
                resource: {
                    "allocatable": after[resource].allocatable,
                    "before": outcome.before[name][resource].requested,
                    "after": after[resource].requested,
                }
                for resource in RESOURCES
            },
        }
        for name, after in outcome.after.items()
    ]
    pending = [{"pod": pod, "reason": why} for pod, why in sorted(outcome.pending.items())]
    placed = [{"pod": pod, "node": node} for pod, node in sorted(outcome.placed.items())]
    evicted = [{"pod": pod, "node": node} for pod, node in sorted(outcome.evicted.items())]
    return {"placed": placed, "pending": pending, "evicted": evicted, "nodes": nodes}


def _summary(outcomes: Outcomes) -> list[list[str]]:
    rows = [["CONFIGURATION", "PLACED", "PENDING", "EVICTED", "CPU", "MEMORY", "FULLEST", "NODES IN USE"]]
    for name, each in outcomes.items():
        fullest = max((use.share for uses in each.after.values() for use in uses.values()), default=0.0)
        used = sum(1 for uses in each.after.values() if uses["pods"].requested)
        rows.append(
            [
                name,
                str(len(each.placed)),
                str(len(each.pending)),
                str(len(each.evicted)),
                *(_change(total(each.before, resource), total(each.after, resource)) for resource in ("cpu", "memory")),
                _percent(fullest),
                f"{used}/{len(each.after)}",
            ]
        )
    return rows


def _nodes(outcomes: Outcomes) -> list[list[str]]:
    several = len(outcomes) > 1
    heads = [f"{resource.upper()}{f' ({name})' if several else ''}" for name in outcomes for resource in RESOURCES]
    rows = [["NODE", *heads]]
    first = next(iter(outcomes.values()))
    for node in first.after:
        cells = [
            _count(each.before[node][resource], each.after[node][resource])
            if resource == "pods"
            else _change(each.before[node][resource], each.after[node][resource])
            for each in outcomes.values()
            for resource in RESOURCES
        ]
        rows.append([node, *cells])
    return rows


def _change(before: Use, after: Use) -> str:
    return f"{_percent(before.share)} -> {_percent(after.share)}"


def _count(before: Use, after: Use) -> str:
    return f"{before.requested} -> {after.requested}"


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "\n".join(lines)
