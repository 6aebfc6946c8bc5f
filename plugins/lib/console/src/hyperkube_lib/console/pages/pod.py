"""A pod: its containers, logs, a terminal in it, and why it is where it is or nowhere yet."""

from __future__ import annotations

from typing import Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.gate import STREAMS
from hyperkube_lib.console.reader import Table

from hyperkube.client.wire import error_of
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, name_of, namespace_of

EXPLAIN = "/debug/scheduler/explain"
SHELLS = ("sh", "bash", "ash", "python3")
_KINDS = (("initContainers", "initContainerStatuses"), ("containers", "containerStatuses"),
          ("ephemeralContainers", "ephemeralContainerStatuses"))  # fmt: skip


def register(_app: flask.Flask) -> None:
    """Nothing to add: a pod's page is an object's page with more tabs."""


@dataclass(frozen=True, slots=True)
class ContainerRow:
    """One container, as the page shows it."""

    name: str
    image: str
    state: str
    tone: str
    detail: str
    restarts: int
    last: str
    is_init: bool


def shown(obj: Object, tab: str) -> dict[str, Any]:
    """Return what a tab of a pod's page shows."""
    if tab == "why":
        return decision(obj)
    rows = containers_of(obj)
    if tab in {"logs", "terminal"}:
        names = [row.name for row in rows]
        chosen = flask.request.args.get("container", "")
        default = next((row.name for row in rows if not row.is_init), "")
        path = f"{STREAMS}{PODS.path(namespace_of(obj), name_of(obj))}"
        return {
            "containers": names,
            "container": chosen if chosen in names else default,
            "stream": f"{path}/{'log' if tab == 'logs' else 'exec'}",
            "shells": SHELLS,
        }
    return {"rows": rows, "status": obj.get("status") or {}, "spec": obj.get("spec") or {}}


def containers_of(obj: Object) -> list[ContainerRow]:
    """Return a pod's containers in the order in which they start."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    rows = []
    for kind, statuses in _KINDS:
        told = {each["name"]: each for each in status.get(statuses) or []}
        is_init = kind == "initContainers"
        rows += [_row(each, told.get(each["name"], {}), is_init=is_init) for each in spec.get(kind) or []]
    return rows


def _row(container: Object, told: Object, *, is_init: bool) -> ContainerRow:
    state, tone, detail = _state(told.get("state") or {}, is_init=is_init)
    if state == "Running" and not told.get("ready") and not is_init:
        state, tone = "Running, not ready", "busy"
    _, _, last = _state(told.get("lastState") or {}, is_init=is_init)
    return ContainerRow(
        container["name"], str(container.get("image", "")), state, tone, detail,
        int(told.get("restartCount") or 0), last, is_init,
    )  # fmt: skip


def _state(state: Object, *, is_init: bool) -> tuple[str, str, str]:
    """Return a container's state in a word, its tone, and what is told about it."""
    for name, told in state.items():
        if name == "running":
            return "Running", "good", f"since {told.get('startedAt', '')}"
        code = told.get("exitCode")
        word = str(told.get("reason") or name.capitalize())
        detail = "; ".join(str(part) for part in (f"exit code {code}" if code is not None else "",
                                                  told.get("message", "")) if part)  # fmt: skip
        if name == "terminated":
            return word, "good" if not code else "bad", detail
        return word, "busy" if word in {"ContainerCreating", "PodInitializing"} or is_init else "bad", detail
    return "", "", ""


def decision(obj: Object) -> dict[str, Any]:
    """Return the scheduler's latest decision on a pod as a table: nodes by plugins."""
    key = f"{namespace_of(obj)}/{name_of(obj)}"
    conditions = (obj.get("status") or {}).get("conditions") or []
    told = next((row.get("message", "") for row in conditions if row.get("type") == "PodScheduled"), "")
    answer = here.session().acting.client.request("GET", EXPLAIN, query={"pod": key})
    if answer.status != 200:
        return {"decision": None, "condition": told, "refused": error_of(answer.status, {}, answer.body).message}
    import orjson

    found = orjson.loads(answer.body)
    return {"decision": scored(found), "condition": told, "refused": ""}


def scored(found: Object) -> dict[str, Any]:
    """Return a decision with its nodes in order, the best first, and the plugins that scored; pure."""
    nodes = sorted(found.get("nodes") or [], key=lambda node: (-node.get("total", -1), node["node"]))
    plugins = list(dict.fromkeys(row["plugin"] for node in nodes for row in node.get("scores", ())))
    rows = [
        {
            "node": node["node"],
            "total": node.get("total"),
            "chosen": node["node"] == found.get("node"),
            "scores": {row["plugin"]: row for row in node.get("scores", ())},
            "refused": node.get("refused") or [],
        }
        for node in nodes
    ]
    return {"node": found.get("node"), "message": found.get("message", ""), "plugins": plugins, "rows": rows}


def on_node(name: str) -> Table | None:
    """Return the table of a node's pods; None for a user who may not list them."""
    try:
        return here.reader().table(PODS, namespaced=False, fields=f"spec.nodeName={name}")
    except ApiError:
        return None
