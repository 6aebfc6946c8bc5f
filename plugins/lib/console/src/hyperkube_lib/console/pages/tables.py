"""Lists of any resource, as ``kubectl get`` prints them: filtered, sorted, in pages, and live."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.gate import STREAMS
from hyperkube_lib.console.reader import Reader
from hyperkube_lib.console.table_view import View, Wanted, state_column, view

from hyperkube.client.discovery import ApiResource
from hyperkube.kinds.resources import NAMESPACES
from hyperkube.machinery.errors import ApiError, Forbidden
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.objects import name_of

if TYPE_CHECKING:
    from flask.typing import ResponseReturnValue

SECTIONS = {
    "workloads": ("deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps", "jobs.batch",
                  "cronjobs.batch", "horizontalpodautoscalers.autoscaling", "poddisruptionbudgets.policy"),
    "pods": ("pods",),
    "network": ("services", "ingresses.networking.k8s.io", "endpointslices.discovery.k8s.io",
                "networkpolicies.networking.k8s.io"),
    "storage": ("persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io",
                "volumeattachments.storage.k8s.io", "csidrivers.storage.k8s.io"),
    "configuration": ("configmaps", "secrets", "serviceaccounts", "resourcequotas", "limitranges", "namespaces"),
    "events": ("events",),
}  # fmt: skip
"""Entry of the menu → the resources below it, by plural and group."""
SECTION_OF = {name: section for section, names in SECTIONS.items() for name in names}


def register(app: flask.Flask) -> None:
    """Add the pages."""
    app.add_url_rule("/show/<section>", "section", section)
    app.add_url_rule("/list/<group>/<version>/<plural>", "listing", listing)
    app.add_url_rule("/resources", "kinds", kinds)


def section(section: str) -> ResponseReturnValue:
    """Go to the first resource of an entry of the menu that the server has."""
    for name in SECTIONS.get(section, ()):
        for found in here.resources():
            if str(found.gvr.group_resource) == name:
                return flask.redirect(url_of(found.gvr), 303)
    return flask.redirect(flask.url_for("kinds"), 303)


def url_of(gvr: GroupVersionResource) -> str:
    """Return the address of a resource's list."""
    return flask.url_for("listing", group=gvr.group or here.CORE, version=gvr.version, plural=gvr.resource)


def listing(group: str, version: str, plural: str) -> ResponseReturnValue:
    """Show one page of a resource's list."""
    resource, wanted = here.resource_called(group, version, plural), wanted_of()
    namespace = here.namespace() if resource.namespaced else ""
    name = str(resource.gvr.group_resource)
    try:
        table = here.table(resource, namespace, fresh=here.is_fragment())
    except Forbidden as error:
        spaces = namespaces(here.reader()) if resource.namespaced else []
        return here.page("refused_list.html", resource=resource, text=error.message, spaces=spaces,
                         namespace=namespace, tabs=_tabs(name), section=SECTION_OF.get(name, "kinds")), 403  # fmt: skip
    shown: View = view(table, wanted)
    return here.page(
        "list.html",
        resource=resource,
        table=table,
        view=shown,
        wanted=wanted,
        state=state_column(table),
        columns=[place for place in range(len(table.columns)) if _is_shown(resource, table.wide, place)],
        spaces=namespaces(here.reader()) if resource.namespaced else [],
        namespace=namespace,
        tabs=_tabs(name),
        section=SECTION_OF.get(name, "kinds"),
        watch=watch_url(resource.gvr, namespace, table.revision),
    )


def wanted_of() -> Wanted:
    """Return what a page's query asks for."""
    get = flask.request.args.get
    sort, page = get("sort", ""), get("page", "1")
    return Wanted(
        text=get("q", ""),
        state=get("state", ""),
        sort=int(sort) if sort.isdecimal() else -1,
        descending=get("down", "") == "1",
        page=int(page) if page.isdecimal() else 1,
    )


def watch_url(gvr: GroupVersionResource, namespace: str, revision: str, **more: str) -> str:
    """Return what a live page follows; empty for a page of the past, which does not change."""
    if here.at() or not revision:
        return ""
    query = {"watch": "1", "resourceVersion": revision, "allowWatchBookmarks": "true", **more}
    return f"{STREAMS}{gvr.path(namespace)}?{urlencode(query)}"


def namespaces(reader: Reader) -> list[str]:
    """Return the namespaces to choose from; none for a user who may not list them."""
    try:
        return here.remembered(
            ("namespaces", reader.at),
            here.SHOWN_SECONDS,
            lambda: [name_of(each) for each in reader.objects(NAMESPACES)],
        )
    except ApiError:
        return []


def kinds() -> str:
    """Show all resources that the server has, by group."""
    groups: dict[str, list[ApiResource]] = defaultdict(list)
    for found in here.resources():
        groups[found.gvr.group].append(found)
    return here.page("kinds.html", groups=sorted(groups.items()), section="kinds")


def _tabs(name: str) -> list[ApiResource]:
    wanted = SECTIONS.get(SECTION_OF.get(name, ""), ())
    by_name = {str(found.gvr.group_resource): found for found in here.resources()}
    return [by_name[each] for each in wanted if each in by_name] if len(wanted) > 1 else []


def _is_shown(resource: ApiResource, wide: frozenset[int], place: int) -> bool:
    """Tell whether a column is shown: those of ``-o wide`` only where they say much, as a pod's node does."""
    return place not in wide or (resource.gvr.resource == "pods" and place in sorted(wide)[:2])
