"""hyperkube plugins cost: what each plugin of a running cluster has taken, as its host measured it.

Hosts measure where that is cheap: the API server and the scheduler in every tenth call, the controller manager each
key that a controller worked on. A row is one plugin at one place: a hook, an extension point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, UsageError

Fetch = Callable[[str], bytes]
"""Path → the page of the API server; raises an ApiError if it has none."""


@dataclass(frozen=True, slots=True)
class Source:
    """A histogram that has the times of a family's plugins: where it is, and which labels name plugin and place."""

    family: str
    path: str
    metric: str
    plugin: str
    place: str = ""


SOURCES = (
    Source("admission", "/metrics", "apiserver_admission_controller_admission_duration_seconds", "name", "type"),
    Source(
        "scheduler", "/debug/scheduler/metrics", "scheduler_plugin_execution_duration_seconds", "plugin",
        "extension_point",
    ),
    Source("controller", "/debug/controllers/metrics", "workqueue_work_duration_seconds", "name"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Cost:
    """What one plugin took at one place: measured calls, and the seconds of all of them."""

    family: str
    name: str
    place: str
    calls: int
    seconds: float

    @property
    def mean(self) -> float:
        """Seconds of one call."""
        return self.seconds / self.calls


def costs_in(source: Source, text: str) -> list[Cost]:
    """Return what the metrics of one host say, summed over the other labels; plugins without a call are left out."""
    from prometheus_client.parser import text_string_to_metric_families

    sums: dict[tuple[str, str], list[float]] = {}
    for family in text_string_to_metric_families(text):
        if family.name != source.metric:
            continue
        for sample in family.samples:
            ending = sample.name.removeprefix(source.metric)
            if ending in {"_sum", "_count"}:
                key = (sample.labels.get(source.plugin, ""), sample.labels.get(source.place, ""))
                row = sums.setdefault(key, [0.0, 0.0])
                row[ending == "_count"] += sample.value
    return [Cost(source.family, *key, int(calls), seconds) for key, (seconds, calls) in sums.items() if calls]


def measured(fetch: Fetch, family: str | None = None) -> tuple[list[Cost], list[str]]:
    """Return what all hosts measured, the dearest first, and a line for each host that tells nothing.

    Raises:
        UsageError: nothing is measured of the plugins of that family.
    """
    sources = [source for source in SOURCES if family in {None, source.family}]
    if not sources:
        known = ", ".join(source.family for source in SOURCES)
        raise UsageError(f"no host measures the calls of {family} plugins (measured: {known})")
    found: list[Cost] = []
    silent: list[str] = []
    for source in sources:
        try:
            found += costs_in(source, fetch(source.path).decode())
        except ApiError as error:
            silent.append(f"{source.family} plugins: {source.path}: {error}")
    return sorted(found, key=lambda cost: -cost.seconds), silent


def table(costs: Iterable[Cost]) -> list[tuple[str, ...]]:
    """Return the rows of the table for people, its head first."""
    head = ("FAMILY", "NAME", "AT", "CALLS", "MEAN", "TOTAL")
    return [
        head,
        *(
            (cost.family, cost.name, cost.place, str(cost.calls), _time(cost.mean), _time(cost.seconds))
            for cost in costs
        ),
    ]


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
