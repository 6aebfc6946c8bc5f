"""hyperkube top: nodes, pods and requests of a cluster, live.

`kubectl top` shows once what metrics-server measured. Here that stands beside what is requested and what the API server
is doing, drawn anew every few seconds; without metrics-server the columns of use show a dash.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click
from hyperkube_lib.console.node_use import NodeUse, Share, node_uses
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options

from hyperkube.command.lifecycle import stop_signal
from hyperkube.kinds.pods import phase
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.machinery import quantity
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import Object, key_of

if TYPE_CHECKING:
    from hyperkube.client.client import Client
    from hyperkube.client.http import HttpClient

NODE_METRICS = GroupVersionResource("metrics.k8s.io", "v1beta1", "nodes")
POD_METRICS = GroupVersionResource("metrics.k8s.io", "v1beta1", "pods")
REQUESTS = "apiserver_request_total"
CLEAR = "\x1b[H\x1b[J"
_FIXED_LINES = 8
_MOST_VERBS = 6


@dataclass(frozen=True, slots=True)
class Seen:
    """What was read at one moment; `requests` counts what the API server has answered, by verb."""

    at: float
    nodes: Sequence[NodeUse]
    phases: Mapping[str, int]
    pods: Sequence[tuple[str, float, float]]
    """Name, cores, bytes: what metrics-server measured, the largest first."""
    requests: Mapping[str, float]


@click.command()
@click.option("--interval", type=click.FloatRange(0.2), default=2.0, show_default=True, help="seconds between looks")
@click.option("--once", is_flag=True, help="look once; so it does where the output is no terminal")
@cluster_options
def command(interval: float, once: bool, kubeconfig: Path | None, data_dir: Path | None) -> None:
    """Show nodes, pods and requests of a cluster until Ctrl-C.

    Example: hyperkube top --interval 1
    """
    clock = SystemClock()
    is_live = not once and sys.stdout.isatty()
    with closing(cluster_client(kubeconfig, data_dir)) as client, stop_signal() as stopped:
        before: Seen | None = None
        while not stopped.is_set():
            size = shutil.get_terminal_size()
            try:
                seen = look(client, clock.monotonic())
            except (ApiError, OSError) as error:
                if not is_live:
                    raise UsageError(f"cannot reach the cluster: {error}") from error
                click.echo(f"{CLEAR}cannot reach the cluster: {error}")
            else:
                lines = drawn(seen, before, size.lines if is_live else 1 << 16)
                click.echo(
                    (CLEAR if is_live else "") + "\n".join(line[: size.columns] for line in lines), nl=not is_live
                )
                before = seen
            if not is_live:
                return
            stopped.wait(interval)


def look(client: HttpClient, at: float) -> Seen:
    """Read everything once."""
    pods = client.list(PODS).items
    measured = [(key_of(row), *_use(row)) for row in _measured(client, POD_METRICS)]
    return Seen(
        at=at,
        nodes=node_uses(client.list(NODES).items, pods, _measured(client, NODE_METRICS)),
        phases=Counter(map(phase, pods)),
        pods=sorted(measured, key=lambda row: (-row[1], -row[2], row[0])),
        requests=answered(client.request("GET", "/metrics").body.decode()),
    )


def _measured(client: Client, resource: GroupVersionResource) -> Sequence[Object]:
    try:
        return client.list(resource).items
    except ApiError:  # there is no metrics-server, or it has measured nothing yet
        return ()


def _use(row: Object) -> tuple[float, float]:
    used = [container.get("usage") or {} for container in row.get("containers") or []]
    cpu, memory = (
        sum(float(quantity.parse(each.get(name, "0")).milli_value()) / 1000 for each in used)
        for name in ("cpu", "memory")
    )
    return cpu, memory


def answered(metrics: str) -> dict[str, float]:
    """Return verb → requests answered, from an API server's metrics."""
    from prometheus_client.parser import text_string_to_metric_families

    counts: Counter[str] = Counter()
    wanted = "\n".join(line for line in metrics.splitlines() if line.startswith((REQUESTS, f"# TYPE {REQUESTS}")))
    for family in text_string_to_metric_families(wanted + "\n"):
        for sample in family.samples:
            counts[sample.labels["verb"]] += int(sample.value)
    return dict(counts)


def rates(seen: Seen, before: Seen | None) -> dict[str, float]:
    """Return verb → requests per second since the look before; empty at the first look, or after a restart."""
    if before is None or seen.at <= before.at:
        return {}
    more = {verb: count - before.requests.get(verb, 0) for verb, count in seen.requests.items()}
    return {verb: count / (seen.at - before.at) for verb, count in more.items() if count > 0}


def drawn(seen: Seen, before: Seen | None, height: int) -> list[str]:
    """Return the lines of the picture: requests, nodes, and as many pods as there is room for."""
    by_verb = sorted(rates(seen, before).items(), key=lambda row: -row[1])
    told = "  ".join(f"{verb} {rate:.1f}" for verb, rate in by_verb[:_MOST_VERBS]) or "-"
    phases = "  ".join(f"{name} {count}" for name, count in sorted(seen.phases.items())) or "none"
    room = max(2, height - _FIXED_LINES)
    nodes = list(seen.nodes)[: max(1, room // 2)]
    lines = [f"requests/s  {told}", f"pods        {phases}", ""]
    head = ("NODE", "READY", "CPU REQUESTED", "CPU USED", "MEMORY REQUESTED", "MEMORY USED", "PODS")
    lines += _aligned([head, *map(_node_row, nodes)])
    if len(nodes) < len(seen.nodes):
        lines.append(f"… and {len(seen.nodes) - len(nodes)} more nodes")
    pods = seen.pods[: max(1, room - len(nodes))]
    if pods:
        rows = [(name, f"{cores * 1000:.0f}m", f"{size / (1 << 20):.0f}Mi") for name, cores, size in pods]
        lines += ["", *_aligned([("POD", "CPU", "MEMORY"), *rows])]
    return lines


def _node_row(node: NodeUse) -> tuple[str, ...]:
    cpu, memory, pods = (node.shares[name] for name in ("cpu", "memory", "pods"))
    ready = "yes" if node.is_ready else "no"
    return (
        node.name, ready if node.is_schedulable else f"{ready}, cordoned", *_both(cpu), *_both(memory),
        f"{pods.requested:.0f} of {pods.allocatable:.0f}",
    )  # fmt: skip


def _both(share: Share) -> tuple[str, str]:
    return share.percent(share.requested), share.percent(share.used)


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    table = list(rows)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
