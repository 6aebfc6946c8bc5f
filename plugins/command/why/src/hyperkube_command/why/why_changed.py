"""hyperkube why changed, hyperkube why refused: what admission plugins made of an object, and who said no to a request.

The API server keeps the latest of both in memory; changes only when it was started with ``--explain-admission``.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import click
import orjson
from hyperkube_lib.local_cluster.access import cluster_client, cluster_options

from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.machinery.objects import Object

if TYPE_CHECKING:
    from hyperkube.client.client import Client
    from hyperkube.client.discovery import ApiResource

CHANGED = "/debug/admission/changed"
REFUSED = "/debug/admission/refused"
_WIDEST = 120


def _options(function: Any) -> Any:
    """Add the options that both questions have."""
    for option in (
        click.option("--audit-id", help="the request, as its answer's Audit-Id header and the audit log name it"),
        cluster_options,
        click.option("--limit", type=int, default=10, show_default=True, help="how many requests, the latest first"),
        click.option("--output", "-o", type=click.Choice(["table", "json"]), default="table", help="how to print it"),
    ):
        function = option(function)
    return function


@click.command("changed")
@click.argument("object_", metavar="KIND/NAME", required=False)
@click.option("--namespace", "-n", default="default", show_default=True, help="the object's namespace")
@_options
def changed(**words: Any) -> None:
    """Say which admission plugin changed what of an object, or in a request.

    Example: hyperkube why changed pod/web-0 -n shop
    """
    if bool(words["object_"]) == bool(words["audit_id"]):
        raise UsageError("say either KIND/NAME or --audit-id ID")
    try:
        with closing(cluster_client(words["kubeconfig"], words["data_dir"])) as client:
            query = {"auditID": words["audit_id"]} if words["audit_id"] else _object_query(client, words)
            found = _ask(client, CHANGED, {**query, "limit": str(words["limit"])})
    except (ApiError, OSError) as error:
        raise UsageError(str(error)) from error
    if not found["recorded"]:
        raise UsageError("the server keeps no record of changes: start it with --explain-admission")
    if not found["items"]:
        what = words["object_"] or f"request {words['audit_id']}"
        raise UsageError(f"the server has no record of a plugin that changed {what}")
    _print(found, words, changed_lines)


@click.command("refused")
@_options
def refused(**words: Any) -> None:
    """Say who refused a request, or which requests were refused of late.

    Example: hyperkube why refused --audit-id 6bd2c9d1-0f2e-4c51-9a39-3a0cdb2e7f11
    """
    query = {"auditID": words["audit_id"]} if words["audit_id"] else {}
    try:
        with closing(cluster_client(words["kubeconfig"], words["data_dir"])) as client:
            found = _ask(client, REFUSED, {**query, "limit": str(words["limit"])})
    except (ApiError, OSError) as error:
        raise UsageError(str(error)) from error
    if words["audit_id"] and not found["items"]:
        raise UsageError(f"the server has no record of a refusal of request {words['audit_id']}")
    _print(found, words, refused_lines)


def _ask(client: Client, path: str, query: dict[str, str]) -> Object:
    answer = client.request("GET", path, query=query)
    if answer.status == 404:
        raise UsageError(f"the server has no {path}: it is no API server of hyperkube, or an older one")
    found: Object = orjson.loads(answer.body)
    if answer.status != 200:
        raise UsageError(str(found.get("message") or f"the server answered {answer.status}"))
    return found


def _object_query(client: Client, words: dict[str, Any]) -> dict[str, str]:
    from hyperkube.client.discovery import discover

    kind, slash, name = words["object_"].partition("/")
    if not (kind and slash and name):
        raise UsageError(f"{words['object_']!r} is no KIND/NAME such as pod/web-0 or deployments.apps/web")
    resource = next((row for row in discover(client).resources if _is_called(row, kind.lower())), None)
    if resource is None:
        raise UsageError(f"the server has no kind {kind!r}")
    namespace = words["namespace"] if resource.namespaced else ""
    return {"resource": str(resource.gvr.group_resource), "namespace": namespace, "name": name}


def _is_called(row: ApiResource, word: str) -> bool:
    names = (row.gvr.resource, str(row.gvr.group_resource), row.kind.lower(), str(row.group_kind).lower())
    return word in names


def _print(found: Object, words: dict[str, Any], lines: Any) -> None:
    text = [line for item in found["items"] for line in lines(item)]
    click.echo(orjson.dumps(found["items"]).decode() if words["output"] == "json" else "\n".join(text))


def _head(item: Object) -> str:
    what = f"{item['resource']}/{item['subresource']}" if item["subresource"] else item["resource"]
    where = f" in {item['namespace']}" if item["namespace"] else ""
    return f"{item['time']} {item['user']} {item['verb']} {what} {item['name']}{where} (Audit-Id {item['auditID']})"


def changed_lines(item: Object) -> list[str]:
    """Return one write as lines: who asked for what, then a row for each change."""
    ending = "" if item["stored"] else ", dry run" if item["dryRun"] else ", not stored"
    rows = [
        [row["plugin"] if not index else "", str(row["microseconds"]) if not index else "", *_operation(operation)]
        for row in item["plugins"]
        for index, operation in enumerate(row["patch"])
    ]
    return [_head(item) + ending, *_table([["PLUGIN", "US", "CHANGE", "PATH", "VALUE"], *rows])]


def refused_lines(item: Object) -> list[str]:
    """Return one refusal as lines: who asked for what, and who refused it with which words."""
    return [_head(item), f"  {item['by']}: {item['code']} {item['reason']}: {item['message']}"]


def _operation(operation: Object) -> list[str]:
    value = orjson.dumps(operation["value"]).decode() if "value" in operation else ""
    return [operation["op"], operation["path"], value if len(value) <= _WIDEST else value[: _WIDEST - 3] + "..."]


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    shown = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line}".rstrip() for line in shown]
