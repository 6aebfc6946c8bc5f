"""The report of a run: service levels against upstream's aims, what each server used in each phase, and plots.

``report.md``, ``report.json``, plots and their points (``plots.json``) stand in one folder. Processor time is also told
in paces: the CPU of a fixed piece of work of the same minute (`servers_under_load.PACE`), by which runs on other
machines, or in other hours of the same one, compare.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from scale import growth, observers, steps
from scale.samples import Samples, percentile
from scale.servers import Usage

MEBIBYTE = 1 << 20
_WINDOW_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Aim:
    """A service level objective: the percentile of these kinds stays below so many seconds."""

    name: str
    kinds: tuple[str, ...]
    seconds: float
    share: float = 0.99


MUTATING = ("POST", "PUT", "PATCH", "DELETE")
READS = tuple(f"GET {what}" for what in ("pods", "leases", "serviceaccounts"))
AIMS = (
    Aim("mutating calls", MUTATING, 1.0),
    Aim("reads of one object", READS, 1.0),
    Aim("lists of a namespace", (observers.LIST_NAMESPACE, "LIST loads"), 5.0),
    Aim("lists of the cluster", (observers.LIST_CLUSTER,), 30.0),
    Aim("pod start", (observers.POD_START,), 5.0),
    Aim("endpoint programming", (observers.ENDPOINT,), 30.0),
)
"""Source: kubernetes/community ``sig-scalability/slos/slos.md``."""


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a run, between two moments of the monotonic clock; `pace` is its calibration in CPU seconds."""

    name: str
    begin: float
    end: float
    pace: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Spent:
    """What a server used in a phase: cores, paces of work in a second, MiB at its end, threads, descriptors."""

    server: str
    cores: float
    paces: float
    mebibytes: float
    peak: float
    threads: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Run:
    """All that a run left behind."""

    title: str
    phases: Sequence[Phase]
    samples: Samples
    history: dict[str, list[Usage]]
    facts: dict[str, Any]
    stored: Sequence[tuple[float, float]] = ()
    """(moment, MiB) of the store's files."""

    @property
    def begin(self) -> float:
        """The moment at which the first phase began."""
        return min(phase.begin for phase in self.phases)


def latencies(samples: Samples, kinds: Sequence[str], begin: float = 0.0, end: float = float("inf")) -> list[float]:
    """Return the latencies of kinds, which are names or first words of names."""
    return [
        seconds
        for kind in samples.kinds()
        if kind in kinds or kind.split(" ")[0] in kinds
        for seconds in samples.of(kind, begin, end)
    ]


def spent(server: str, history: Sequence[Usage], phase: Phase) -> Spent | None:
    """Return what a server used in a phase; None if it was not looked at twice."""
    within = [each for each in history if phase.begin <= each.moment <= phase.end]
    if len(within) < 2:
        return None
    first, last = within[0], within[-1]
    cores = (last.cpu - first.cpu) / (last.moment - first.moment)
    sizes = [each.resident / MEBIBYTE for each in within]
    return Spent(server, cores, cores / phase.pace, sizes[-1], max(sizes), last.threads, last.descriptors)


def rows_of(run: Run, phase: Phase) -> list[Spent]:
    """Return a row for each server in a phase."""
    rows = (spent(name, history, phase) for name, history in run.history.items())
    return [row for row in rows if row]


def text(run: Run) -> str:
    """Return the report as Markdown."""
    return "\n".join(
        [
            f"# {run.title}",
            "",
            *_facts(run),
            *_levels(run),
            *steps.table(run.samples, run.phases),
            *_servers(run),
            *_costs(run),
            *growth.table(_growth(run)),
            *_calls(run),
            *_plots(run),
            "",
        ]
    )


def _facts(run: Run) -> Iterator[str]:
    yield from (f"- {name}: {value}" for name, value in run.facts.items())
    yield ""


def _levels(run: Run) -> Iterator[str]:
    yield "| service level | aim s | " + " | ".join(f"{phase.name} p50 / p99 (count)" for phase in run.phases) + " |"
    yield "|---|---|" + "---|" * len(run.phases)
    for aim in AIMS:
        cells = []
        for phase in run.phases:
            values = latencies(run.samples, aim.kinds, phase.begin, phase.end)
            high = percentile(values, aim.share)
            met = "" if not values or high <= aim.seconds else " **missed**"
            cells.append(f"{percentile(values, 0.5):.3f} / {high:.3f} ({len(values)}){met}" if values else "-")
        yield f"| {aim.name} | {aim.seconds:g} | " + " | ".join(cells) + " |"
    yield ""


def _servers(run: Run) -> Iterator[str]:
    yield "| phase | server | cores | paces/s | MiB at the end | peak | threads | descriptors |"
    yield "|---|---|---|---|---|---|---|---|"
    for phase in run.phases:
        rows = rows_of(run, phase)
        for row in rows:
            yield (
                f"| {phase.name} ({phase.seconds:.0f} s) | {row.server} | {row.cores:.3f} | {row.paces:.2f} |"
                f" {row.mebibytes:.0f} | {row.peak:.0f} | {row.threads} | {row.descriptors} |"
            )
        together = [row for row in rows if not row.server.startswith("load")]
        yield (
            f"| {phase.name} | **servers together** | {sum(row.cores for row in together):.3f} |"
            f" {sum(row.paces for row in together):.2f} | {sum(row.mebibytes for row in together):.0f} | | | |"
        )
    yield ""


def calls_in(samples: Samples, phase: Phase) -> int:
    """Return how many calls were answered in a phase."""
    kinds = (kind for kind in samples.kinds() if not kind.startswith(("SLI ", "KIT ", "error ")))
    return sum(len(samples.of(kind, phase.begin, phase.end)) for kind in kinds)


def _costs(run: Run) -> Iterator[str]:
    """Yield what a call costs each kind of server, all members of it together."""
    yield "| phase | calls/s | server | CPU µs a call, watches and all else included | in thousandths of a pace |"
    yield "|---|---|---|---|---|"
    for phase in run.phases:
        rate = calls_in(run.samples, phase) / phase.seconds
        cores: dict[str, float] = {}
        for row in rows_of(run, phase):
            kind = "apiserver" if row.server.startswith("apiserver") else row.server
            cores[kind] = cores.get(kind, 0.0) + row.cores
        for kind in ("apiserver", "etcd"):
            if rate and kind in cores:
                each = cores[kind] / rate
                yield f"| {phase.name} | {rate:.0f} | {kind} | {each * 1e6:.0f} | {each / phase.pace * 1e3:.2f} |"
    yield ""


def _growth(run: Run) -> list[tuple[str, growth.Growth]]:
    return [
        (phase.name, row)
        for phase in run.phases
        for row in growth.growths(run.history, run.stored, phase.begin, phase.end)
    ]


def _calls(run: Run) -> Iterator[str]:
    yield "| call | count | p50 ms | p99 ms | most |"
    yield "|---|---|---|---|---|"
    for kind in run.samples.kinds():
        values = run.samples.of(kind)
        figures = (percentile(values, 0.5), percentile(values, 0.99), max(values))
        yield f"| {kind} | {len(values)} | " + " | ".join(f"{value * 1000:.0f}" for value in figures) + " |"
    yield ""


PLOTS = ("memory", "processors", "latencies", "pod-start")
Lines: TypeAlias = "dict[str, list[tuple[str, list[tuple[float, float]]]]]"
"""Of each plot its lines by name: points of x and y, seconds from the start of the run but for ``pod-start``."""


def _plots(run: Run) -> Iterator[str]:
    yield from (f"![{name}]({name}.png)" for name in PLOTS)


def write(run: Run, folder: Path) -> None:
    """Write the report and its plots."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.md").write_text(text(run))
    phases = [
        {
            **asdict(phase),
            "servers": [asdict(row) for row in rows_of(run, phase)],
            "levels": _measured(run, phase),
            "pod start": steps.told(run.samples, phase.begin, phase.end),
            "growth": [asdict(row) for row in growth.growths(run.history, run.stored, phase.begin, phase.end)],
        }
        for phase in run.phases
    ]
    lines = _lines(run)
    told = {"title": run.title, "facts": run.facts, "phases": phases}
    (folder / "report.json").write_text(json.dumps(told, indent=1))
    (folder / "plots.json").write_text(json.dumps({name: dict(lines[name]) for name in PLOTS}))
    draw(run, lines, folder)


def _measured(run: Run, phase: Phase) -> dict[str, Any]:
    found = {aim.name: latencies(run.samples, aim.kinds, phase.begin, phase.end) for aim in AIMS}
    return {
        name: {"count": len(values), "p50": percentile(values, 0.5), "p99": percentile(values, 0.99)}
        for name, values in found.items()
        if values
    }


def _lines(run: Run) -> Lines:
    """Return memory and cores of each server, latencies in windows of five seconds, and how pods' starts spread."""
    start = run.begin
    return {
        "memory": [
            (name, [(each.moment - start, each.resident / MEBIBYTE) for each in history])
            for name, history in run.history.items()
        ]
        + [("the store's files", [(moment - start, size) for moment, size in run.stored])],
        "processors": [(name, cores_over_time(history, start)) for name, history in run.history.items()],
        "latencies": [(aim.name, windows(run.samples, aim, start)) for aim in AIMS],
        "pod-start": [
            (phase.name, spread(run.samples.of(observers.POD_START, phase.begin, phase.end))) for phase in run.phases
        ],
    }


def draw(run: Run, lines: Lines, folder: Path) -> None:
    """Draw the plots."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    labels = {
        "memory": ("seconds", "MiB resident; MiB of the files"),
        "processors": ("seconds", "cores"),
        "latencies": ("seconds", "p99, seconds"),
        "pod-start": ("seconds from the request to Running", "share of pods"),
    }
    for name in PLOTS:
        figure, axes = plt.subplots(figsize=(9, 4))
        for label, points in lines[name]:
            if points:
                axes.plot(*zip(*points, strict=True), label=label)
        axes.set(xlabel=labels[name][0], ylabel=labels[name][1], title=f"{run.title}: {name}")
        if name != "pod-start":
            for phase in run.phases:
                axes.axvline(phase.begin - run.begin, color="grey", linewidth=0.5)
                axes.annotate(phase.name, (phase.begin - run.begin, 1), xycoords=("data", "axes fraction"), fontsize=7)
        if name == "latencies":
            axes.set_yscale("log")
        if any(points for _, points in lines[name]):
            axes.legend(fontsize=7)
        figure.savefig(folder / f"{name}.png", dpi=100)
        plt.close(figure)


def cores_over_time(history: Sequence[Usage], start: float) -> list[tuple[float, float]]:
    """Return (second, cores) for each window of five seconds."""
    points, last = [], history[0]
    for each in history:
        if each.moment - last.moment >= _WINDOW_SECONDS:
            points.append((each.moment - start, (each.cpu - last.cpu) / (each.moment - last.moment)))
            last = each
    return points


def windows(samples: Samples, aim: Aim, start: float) -> list[tuple[float, float]]:
    """Return (second, percentile) for each window of five seconds in which there was something."""
    found: dict[int, list[float]] = {}
    for kind in samples.kinds():
        if kind in aim.kinds or kind.split(" ")[0] in aim.kinds:
            for moment, seconds in samples.with_moments(kind):
                found.setdefault(int((moment - start) / _WINDOW_SECONDS), []).append(seconds)
    return [(window * _WINDOW_SECONDS, percentile(values, aim.share)) for window, values in sorted(found.items())]


def spread(values: Sequence[float]) -> list[tuple[float, float]]:
    """Return the points of the cumulated distribution."""
    ordered = sorted(values)
    return [(value, (place + 1) / len(ordered)) for place, value in enumerate(ordered)]
