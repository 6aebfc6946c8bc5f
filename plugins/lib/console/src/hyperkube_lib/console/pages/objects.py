"""One object: what it is, its events, who changed it, and its YAML to be edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.pages import pod
from hyperkube_lib.console.pages.overview import last_seen
from hyperkube_lib.console.pages.tables import SECTION_OF, watch_url
from hyperkube_lib.console.yaml_text import editable

from hyperkube.client.discovery import ApiResource
from hyperkube.kinds.resources import EVENTS, PODS
from hyperkube.machinery.errors import ApiError
from hyperkube.machinery.objects import Object, owners_of, resource_version_of, uid_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

CLUSTER = "-"
"""How URLs call the namespace of what has none."""
CHANGED = "/debug/admission/changed"
SCALED = frozenset(("deployments.apps", "statefulsets.apps", "replicasets.apps", "replicationcontrollers"))
RESTARTED = frozenset(("deployments.apps", "statefulsets.apps", "daemonsets.apps"))


def register(app: flask.Flask) -> None:
    """Add the pages."""
    app.add_url_rule("/object/<group>/<version>/<plural>/<namespace>/<name>", "thing", thing)
    app.add_template_global(thing_url, "thing_url")
    app.add_template_global(owner_url, "owner_url")


def thing_url(resource: ApiResource, namespace: str, name: str, **more: Any) -> str:
    """Return the address of an object's page."""
    gvr = resource.gvr
    return flask.url_for(
        "thing", group=gvr.group or here.CORE, version=gvr.version, plural=gvr.resource,
        namespace=namespace or CLUSTER, name=name, **more,
    )  # fmt: skip


def owner_url(api_version: str, kind: str, namespace: str, name: str) -> str:
    """Return the address of an object that another refers to; empty where the server has no such kind."""
    group = api_version.rpartition("/")[0]
    for found in here.resources():
        if found.kind == kind and found.gvr.group == group:
            return thing_url(found, namespace if found.namespaced else "", name)
    return ""


def thing(group: str, version: str, plural: str, namespace: str, name: str) -> ResponseReturnValue:
    """Show one object, or one of its tabs."""
    resource = here.resource_called(group, version, plural)
    space = "" if namespace == CLUSTER else namespace
    found = here.reader().one(resource.gvr, name, space)
    kind = str(resource.gvr.group_resource)
    tabs = tabs_of(resource)
    tab = flask.request.args.get("tab", "")
    tab = tab if tab in tabs else tabs[0]
    shown: dict[str, Any] = {}
    if tab == "events":
        shown["events"] = events_of(found, space)
    elif tab == "changes":
        shown["changes"] = changes_of(resource, space, name)
    elif tab == "yaml":
        shown |= {"text": editable(found), "diff": None, "wrong": "", "force": False}
    elif resource.gvr == PODS:
        shown |= pod.shown(found, tab)
    elif kind == "nodes":
        shown["pods"] = pod.on_node(name)
    return here.page(
        "object.html",
        resource=resource,
        obj=found,
        namespace=space,
        name=name,
        tab=tab,
        tabs=tabs,
        owners=owners_of(found),
        scaled=kind in SCALED,
        restarted=kind in RESTARTED,
        cordoned=kind == "nodes",
        section="nodes" if kind == "nodes" else SECTION_OF.get(kind, "kinds"),
        # A form that is being filled in, a log and a terminal are left alone.
        watch="" if tab in {"yaml", "logs", "terminal"} else _watch(resource, space, name, found),
        **shown,
    )


def tabs_of(resource: ApiResource) -> list[str]:
    """Return the names of an object's tabs, the first shown first."""
    special = ["logs", "terminal", "why"] if resource.gvr == PODS else []
    return ["summary", *special, "events", "changes", "yaml"]


def events_of(obj: Object, namespace: str) -> list[Object]:
    """Return an object's events, the latest first; none for a user who may not read them."""
    fields = f"involvedObject.uid={uid_of(obj)}"
    try:
        found = list(here.reader().objects(EVENTS, namespace, fields=fields))
    except ApiError:
        return []
    return sorted(found, key=last_seen, reverse=True)


def changes_of(resource: ApiResource, namespace: str, name: str) -> dict[str, Any]:
    """Return what admission plugins changed of an object, as far as the server remembers."""
    query = {"resource": str(resource.gvr.group_resource), "namespace": namespace, "name": name, "limit": "20"}
    try:
        found: dict[str, Any] = here.reader().json(CHANGED, query)
    except ApiError as error:
        return {"recorded": True, "items": [], "refused": error.message}
    return found


def _watch(resource: ApiResource, namespace: str, name: str, obj: Object) -> str:
    if "watch" not in resource.verbs:
        return ""
    return watch_url(resource.gvr, namespace, str(resource_version_of(obj)), fieldSelector=f"metadata.name={name}")
