"""Prometheus' text format, written directly: pages of thousands of samples are asked for every few seconds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


def _line(name: str, sample: Sample) -> str:
    labels = ",".join(f'{key}="{_escaped(value)}"' for key, value in sample.labels.items())
    stamp = f" {int(sample.time * 1000)}" if sample.time else ""
    value = f"{sample.value:.0f}" if isinstance(sample.value, int) else repr(sample.value)
    return f"{name}{{{labels}}} {value}{stamp}" if labels else f"{name} {value}{stamp}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
