"""hyperkube status: does the local cluster run, where, and how do its parts do."""

from __future__ import annotations

from pathlib import Path

import click
import orjson
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.machinery.errors import ApiError


@click.command()
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="XDG data folder",
    help="the cluster's data folder",
)
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", help="how to print it")
def command(data_dir: Path, output: str) -> int:  # fmt: skip
    """Say whether the local cluster runs; exit 0 when it does and is ready, 3 when it is stopped, 4 when not ready."""
    layout = Layout(data_dir.absolute())
    facts = _facts(layout)
    if output == "json":
        click.echo(orjson.dumps(facts).decode())
    else:
        click.echo("\n".join(f"{key:<10} {_coloured(key, value)}" for key, value in facts.items()))
    return {"running": 0, "stopped": 3}.get(str(facts["state"]), 4)


def _coloured(key: str, value: object) -> str:
    """Return a value with the state's colour; click leaves colours out where the output is no terminal."""
    if key != "state":
        return str(value)
    return click.style(str(value), fg={"running": "green", "stopped": "yellow"}.get(str(value), "red"), bold=True)


def _facts(layout: Layout) -> dict[str, object]:
    pid = layout.holder()
    if pid is None:
        return {"state": "stopped", "data": str(layout.root)}
    state = layout.read_state()
    facts: dict[str, object] = {"state": "starting", "pid": pid, "data": str(layout.root)}
    if not state:
        return facts
    facts |= {"server": state["server"], "kubeconfig": str(layout.admin_kubeconfig)}
    return {**facts, **layout.links(), **_health(layout)}


def _health(layout: Layout) -> dict[str, object]:
    from hyperkube.client.kubeconfig import client_from_kubeconfig
    from hyperkube.kinds.resources import NODES, PODS

    client = client_from_kubeconfig(str(layout.admin_kubeconfig))
    try:
        ready = client.request("GET", "/readyz").status == 200
        nodes = client.list(NODES).items
        pods = client.list(PODS).items
    except (ApiError, OSError) as error:
        return {"state": "not ready", "error": str(error)}
    ready_nodes = sum(
        any(row["type"] == "Ready" and row["status"] == "True" for row in node.get("status", {}).get("conditions", []))
        for node in nodes
    )
    running = sum(pod.get("status", {}).get("phase") == "Running" for pod in pods)
    return {
        "state": "running" if ready else "not ready",
        "nodes": f"{ready_nodes} of {len(nodes)} ready",
        "pods": f"{running} of {len(pods)} running",
    }
