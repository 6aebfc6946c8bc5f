"""The first page: how the cluster does, and what is wrong now."""

from __future__ import annotations

from typing import Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.findings import findings, states
from hyperkube_lib.console.pages.tables import watch_url
from hyperkube_lib.console.reader import Table

from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object

WATCHED = ("nodes", "pods", "deployments.apps", "statefulsets.apps", "daemonsets.apps", "persistentvolumeclaims")
"""What the page looks at."""
WARNINGS = 12


def register(app: flask.Flask) -> None:
    """Add the page."""
    app.add_url_rule("/", "overview", overview)


def overview() -> str:
    """Show the overview."""
    tables, refused = _tables()
    pods = tables.get("pods")
    return here.page(
        "overview.html",
        section="overview",
        health=_health(),
        version=_version(),
        counts=[(here.resource_of(resource), states(tables[name]), len(tables[name].rows))
                for name, resource in _resources() if name in tables],
        findings=findings(tables),
        resources=dict(_resources()),
        refused=refused,
        warnings=_warnings(),
        watch=watch_url(PODS, "", pods.revision if pods else ""),
    )  # fmt: skip


def _resources() -> list[tuple[str, Any]]:
    known = {str(each.gvr.group_resource): each.gvr for each in here.resources()}
    return [(name, known[name]) for name in WATCHED if name in known]


def _tables() -> tuple[dict[str, Table], list[str]]:
    """Return what the user may see, and the names of what not."""
    tables, refused = {}, []
    for name, gvr in _resources():
        try:
            tables[name] = here.table(here.resource_of(gvr), "", fresh=here.is_fragment())
        except ApiError:
            refused.append(name)
    return tables, refused


def _health() -> list[tuple[str, bool]]:
    """Return the API server's checks and whether each is well; none for a user who may not ask."""
    answer = here.session().acting.client.request("GET", "/readyz", query={"verbose": "1"})
    lines = answer.body.decode("utf-8", "replace").splitlines()
    return [(line[3:].split(" ")[0], line.startswith("[+]")) for line in lines if line.startswith(("[+]", "[-]"))]


def _version() -> str:
    try:
        return str(here.reader().json("/version").get("gitVersion", ""))
    except ApiError:
        return ""


def _warnings() -> list[Object]:
    """Return the latest events of type Warning."""
    try:
        found = list(here.reader().objects(EVENTS, fields="type=Warning"))
    except ApiError:
        return []
    return sorted(found, key=last_seen, reverse=True)[:WARNINGS]


def last_seen(event: Object) -> str:
    """Return when an event happened last."""
    series = event.get("series") or {}
    return str(series.get("lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime") or "")
