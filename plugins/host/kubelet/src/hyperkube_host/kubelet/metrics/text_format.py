"""Prometheus' text format, written directly: pages of thousands of samples are asked for every few seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Sample(NamedTuple):
    """A value by its labels, and when it was measured in seconds since the epoch (0: when it is read)."""

    labels: Mapping[str, str]
    value: float
    time: float = 0.0


def family(name: str, kind: str, help_text: str, samples: Iterable[Sample]) -> str:
    """Return a metric with its samples, nothing without one; `kind` is ``counter`` or ``gauge``."""
    lines = [_line(name, sample) for sample in samples]
    if not lines:
        return ""
    return "\n".join([f"# HELP {name} {help_text}", f"# TYPE {name} {kind}", *lines, ""])


def histogram(
    name: str,
    help_text: str,
    bounds: Sequence[float],
    series: Iterable[tuple[Mapping[str, str], Sequence[int], float]],
) -> str:
    """Return a histogram, nothing without a series: labels, the counts up to each bound and in all, and the sum."""
    lines: list[str] = []
    for labels, counts, total in series:
        for bound, count in zip([*map(_bound, bounds), "+Inf"], counts, strict=True):
            lines.append(_line(f"{name}_bucket", Sample({**labels, "le": bound}, count)))
        lines.append(_line(f"{name}_sum", Sample(labels, total)))
        lines.append(_line(f"{name}_count", Sample(labels, counts[-1])))
    return "\n".join([f"# HELP {name} {help_text}", f"# TYPE {name} histogram", *lines, ""]) if lines else ""


def _bound(bound: float) -> str:
    return f"{bound:g}"


def _line(name: str, sample: Sample) -> str:
    labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in sample.labels.items())
    stamp = f" {int(sample.time * 1000)}" if sample.time else ""
    value = f"{sample.value:.0f}" if isinstance(sample.value, int) else repr(sample.value)
    return f"{name}{{{labels}}} {value}{stamp}" if labels else f"{name} {value}{stamp}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
