"""hyperkube at: objects as they were at a revision of the past, as far back as the store remembers.

Kubernetes lists the past (``resourceVersion=N&resourceVersionMatch=Exact``) but does not get single objects from it.
Both are lists here: a single object is the list that selects its name, so this works with any API server.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import click
import orjson
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options

from hyperkube.client.client import Client
from hyperkube.client.discovery import ApiResource, discover
from hyperkube.machinery.errors import HyperkubeError, UsageError

EXAMPLE = """
\b
Examples:
  hyperkube at 1480 get deployments
  hyperkube at 1480 get configmap settings -n web -o yaml
  hyperkube at 1480 get pods -A -l app=web --kubeconfig admin.kubeconfig

How far back one can look: hyperkube snapshot show
"""
_TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1,application/json"
_GAP = "   "


@click.command(epilog=EXAMPLE)
@click.argument("revision", type=click.IntRange(min=1))
@click.argument("get", type=click.Choice(["get"]), expose_value=False)
@click.argument("resource")
@click.argument("name", default="")
@click.option("--namespace", "-n", default="default", show_default=True, help="namespace to look in")
@click.option("--all-namespaces", "-A", is_flag=True, help="look in all namespaces")
@click.option("--selector", "-l", default="", help="label selector")
@click.option(
    "--output", "-o", type=click.Choice(["table", "name", "json", "yaml"]), default="table", show_default=True,
    help="how to print it",
)  # fmt: skip
@cluster_options
def command(
    revision: int, resource: str, name: str, namespace: str, all_namespaces: bool, selector: str,
    output: str, kubeconfig: Path | None, data_dir: Path | None,
) -> None:  # fmt: skip
    """Print objects as they were at REVISION, which is the metadata.resourceVersion of any object or list."""
    with closing(cluster_client(kubeconfig, data_dir)) as client:
        _print(
            client,
            resource,
            name,
            revision,
            namespace="" if all_namespaces else namespace,
            labels=selector,
            output=output,
        )


def _print(client: Client, word: str, name: str, revision: int, *, namespace: str, labels: str, output: str) -> None:
    try:
        found = served(client, word)
        where = namespace if found.namespaced else ""
        fields = f"metadata.name={name}" if name else ""
        answer = read_at(
            client, found, revision, namespace=where, fields=fields, labels=labels, table=output == "table"
        )
    except OSError as error:
        raise UsageError(f"the API server does not answer: {error}") from error
    rows = answer.get("rows" if output == "table" else "items") or []
    if name and not rows:
        raise UsageError(f"{found.gvr.resource} {name!r} not found at revision {revision}")
    click.echo(shown(answer, found, output, single=bool(name), with_namespace=found.namespaced and not where))


def served(client: Client, word: str) -> ApiResource:
    """Return the resource that a word names: its plural, its kind or either with a dot and the group.

    Raises:
        UsageError: the server has no such resource.
    """
    wanted, _, group = word.lower().partition(".")
    for found in discover(client).resources:
        names = {found.gvr.resource, found.kind.lower()}
        if wanted in names and group in {"", found.gvr.group} and "list" in found.verbs:
            return found
    raise UsageError(f"the server doesn't have a resource type {word!r}")


def read_at(
    client: Client, resource: ApiResource, revision: int, *, namespace: str, fields: str, labels: str, table: bool
) -> dict[str, Any]:
    """Return a list, or a table, as it was at a revision.

    Raises:
        UsageError: the revision is compacted or does not exist yet, or the server refuses for another reason.
    """
    gvr = resource.gvr
    root = f"/apis/{gvr.group}/{gvr.version}" if gvr.group else f"/api/{gvr.version}"
    place = f"{root}/namespaces/{namespace}/{gvr.resource}" if namespace else f"{root}/{gvr.resource}"
    selectors = {"fieldSelector": fields, "labelSelector": labels}
    query = {"resourceVersion": str(revision), "resourceVersionMatch": "Exact"}
    query |= {name: text for name, text in selectors.items() if text}
    accept = _TABLE if table else "application/json"
    try:
        response = client.request("GET", place, query=query, headers={"Accept": accept})
    except HyperkubeError as error:
        raise UsageError(str(error)) from error
    answer: dict[str, Any] = orjson.loads(response.body)
    if response.status == 410:
        raise UsageError(f"revision {revision} has been compacted: {answer.get('message')}")
    if response.status >= 300:
        raise UsageError(str(answer.get("message") or response.status))
    return answer


def shown(answer: dict[str, Any], resource: ApiResource, output: str, *, single: bool, with_namespace: bool) -> str:
    """Return what is printed of an answer."""
    if output == "table":
        return _table(answer, with_namespace=with_namespace)
    items = answer["items"]
    if output == "name":
        group = f".{resource.gvr.group}" if resource.gvr.group else ""
        return "\n".join(f"{resource.kind.lower()}{group}/{item['metadata']['name']}" for item in items)
    document = items[0] if single else answer
    if single:
        document = {"apiVersion": answer["apiVersion"], "kind": resource.kind, **document}
    if output == "json":
        return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()
    import yaml

    return str(yaml.safe_dump(document, sort_keys=False)).rstrip()


def _table(answer: dict[str, Any], *, with_namespace: bool) -> str:
    columns = [item for item in enumerate(answer["columnDefinitions"]) if not item[1].get("priority")]
    lines = [[column["name"].upper() for _, column in columns]]
    lines += [[str(row["cells"][place]) for place, _ in columns] for row in answer.get("rows") or []]
    if with_namespace:
        spaces = [row["object"]["metadata"].get("namespace", "") for row in answer.get("rows") or []]
        lines = [[space, *line] for space, line in zip(["NAMESPACE", *spaces], lines, strict=True)]
    if len(lines) == 1:
        return "No resources found"
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        _GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
