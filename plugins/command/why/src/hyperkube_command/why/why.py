"""hyperkube why: every plugin's word on every node, for a pod pending or placed; who may not, changed or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import orjson
from hyperkube_command.why.why_changed import changed, refused
from hyperkube_command.why.why_forbidden import forbidden
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options

from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.client.client import Client, RawResponse

PATH = "/debug/scheduler/explain"


@click.group()
def command() -> None:
    """Say why."""


command.add_command(forbidden)
command.add_command(changed)
command.add_command(refused)


def _options(function: Any) -> Any:
    """Add the options that both questions have."""
    for option in (
        click.argument("pod"),
        click.option("--namespace", "-n", default="default", show_default=True, help="the pod's namespace"),
        cluster_options,
        click.option("--scheduler", help="HTTP address of a scheduler that runs on its own (http://127.0.0.1:10251)"),
        click.option("--output", "-o", type=click.Choice(["table", "json"]), default="table", help="how to print it"),
    ):
        function = option(function)
    return function


@command.command("pending")
@_options
def pending(**words: Any) -> None:
    """Say why no node runs the pod.

    Example: hyperkube why pending web-0
    """
    _answer(words, placed=False)


@command.command("here")
@_options
def here(**words: Any) -> None:
    """Say why the pod is on its node: each plugin's score times its weight, and who refused the other nodes.

    Example: hyperkube why here web-0 -o json
    """
    _answer(words, placed=True)


def _answer(words: dict[str, Any], *, placed: bool) -> None:
    from hyperkube.kinds.resources import PODS

    client = cluster_client(words["kubeconfig"], words["data_dir"])
    try:
        pod = client.get(PODS, words["pod"], words["namespace"])
        found = _explanation(client, words)
    except (ApiError, OSError) as error:
        raise UsageError(str(error)) from error
    node = pod.get("spec", {}).get("nodeName")
    if placed and not node:
        raise UsageError(f"pod {words['pod']!r} has no node yet: ask why it is pending")
    if not placed and node:
        raise UsageError(f"pod {words['pod']!r} is on node {node!r}: ask why it is here")
    found = found or {"pod": f"{words['namespace']}/{words['pod']}", "node": node, "message": _condition(pod)}
    click.echo(orjson.dumps(found).decode() if words["output"] == "json" else "\n".join(lines(found)))


def _explanation(client: Client, words: dict[str, Any]) -> Object | None:
    """Return the scheduler's record; None if it has none, or none can be reached."""
    from hyperkube.client.http import HttpClient

    asked = HttpClient(words["scheduler"]) if words["scheduler"] else client
    answer: RawResponse = asked.request("GET", PATH, query={"pod": f"{words['namespace']}/{words['pod']}"})
    if answer.status != 200:
        return None
    found: Object = orjson.loads(answer.body)
    return found


def _condition(pod: Object) -> str:
    rows = (pod.get("status") or {}).get("conditions") or ()
    told = next((row.get("message") for row in rows if row["type"] == "PodScheduled" and row.get("message")), "")
    return told or "the scheduler has no record of a decision on this pod"


def lines(found: Object) -> list[str]:
    """Return the explanation as lines: a sentence, then a table of nodes, the best first."""
    text = [f"{found['pod']} is on {found['node']}" if found.get("node") else f"{found['pod']}: {found['message']}"]
    if found.get("node") and found.get("message"):
        text.append(found["message"])
    nodes = found.get("nodes") or []
    if not nodes:
        return text
    plugins = list(dict.fromkeys(row["plugin"] for node in nodes for row in node.get("scores", ())))
    table = [["NODE", "TOTAL", *(plugin.upper() for plugin in plugins), "REFUSED BY"]]
    for node in sorted(nodes, key=lambda node: (-node.get("total", -1), node["node"])):
        scores = {row["plugin"]: f"{row['score']}x{row['weight']}" for row in node.get("scores", ())}
        refused = "; ".join(f"{row['plugin']}: {row['reason']}" for row in node.get("refused", ()))
        mark = "*" if node["node"] == found.get("node") else ""
        total = "-" if "total" not in node else str(node["total"])
        table.append([node["node"] + mark, total, *(scores.get(plugin, "-") for plugin in plugins), refused or "-"])
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    text += ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
    return text
