"""What the console changes: edited YAML by server-side apply, and the few deeds that have a button.

Every change is the user's own request; the form repeats the session's secret (see `hyperkube_lib.console.gate`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

import flask
from hyperkube_lib.console import here
from hyperkube_lib.console.pages import objects
from hyperkube_lib.console.pages.tables import SECTION_OF, url_of
from hyperkube_lib.console.yaml_text import difference, read_edited

from hyperkube.client.client import APPLY_PATCH, MERGE_PATCH
from hyperkube.client.discovery import ApiResource
from hyperkube.machinery.errors import BadRequest, Conflict, HyperkubeError, MethodNotAllowed
from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from flask.typing import ResponseReturnValue

FIELD_MANAGER = "hyperkube-console"
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
MOST_REPLICAS = 100_000


def register(app: flask.Flask) -> None:
    """Add the addresses that forms are sent to."""
    app.add_url_rule("/object/<group>/<version>/<plural>/<namespace>/<name>", "change", change, methods=["POST"])


def change(group: str, version: str, plural: str, namespace: str, name: str) -> ResponseReturnValue:
    """Do what a form asks for."""
    if here.at():
        raise MethodNotAllowed("the past cannot be changed: go back to now")
    resource = here.resource_called(group, version, plural)
    space = "" if namespace == objects.CLUSTER else namespace
    deed = flask.request.form.get("do", "")
    if deed in {"preview", "apply"}:
        return _apply(resource, space, name, dry_run=deed == "preview")
    if deed not in _DEEDS:
        raise BadRequest(f"unknown deed {deed!r}")
    return flask.redirect(_DEEDS[deed](resource, space, name), 303)


def _apply(resource: ApiResource, namespace: str, name: str, *, dry_run: bool) -> ResponseReturnValue:
    """Apply the edited text, or show what that would change, also where it would take fields over from others."""
    text, force = flask.request.form.get("text", "").replace("\r\n", "\n"), "force" in flask.request.form
    client = here.session().acting.client
    before = client.get(resource.gvr, name, namespace)
    wrong, lines, status = "", None, 200

    def applied(wanted: Object, *, force: bool) -> Object:
        return client.patch(
            resource.gvr, name, wanted, namespace,
            patch_type=APPLY_PATCH, field_manager=FIELD_MANAGER, force=force, dry_run=dry_run,
        )  # fmt: skip

    try:
        wanted = read_edited(text, resource.kind, name, namespace)
        try:
            after = applied(wanted, force=force)
        except Conflict as conflict:
            wrong, status = str(conflict), 409
            after = applied(wanted, force=True) if dry_run else before
        if not dry_run and not wrong:
            return flask.redirect(objects.thing_url(resource, namespace, name, tab="yaml", saved="1"), 303)
        lines = difference(before, after) if dry_run else None
    except HyperkubeError as error:
        wrong, status = str(error), 422
    return here.page(
        "object.html",
        resource=resource,
        obj=before,
        namespace=namespace,
        name=name,
        tab="yaml",
        tabs=objects.tabs_of(resource),
        owners=[],
        section=SECTION_OF.get(str(resource.gvr.group_resource), "kinds"),
        text=text,
        diff=lines,
        wrong=wrong,
        force=force,
        watch="",
    ), status


def _delete(resource: ApiResource, namespace: str, name: str) -> str:
    here.session().acting.client.delete(resource.gvr, name, namespace, options={"propagationPolicy": "Background"})
    return url_of(resource.gvr) + (f"?{urlencode({'ns': namespace})}" if namespace else "")


def _scale(resource: ApiResource, namespace: str, name: str) -> str:
    given = flask.request.form.get("replicas", "")
    if not given.isdecimal() or int(given) > MOST_REPLICAS:
        raise BadRequest(f"replicas: {given!r} is no number from 0 to {MOST_REPLICAS}")
    body: Object = {"spec": {"replicas": int(given)}}
    here.session().acting.client.patch(
        resource.gvr, name, body, namespace, subresource="scale", patch_type=MERGE_PATCH, field_manager=FIELD_MANAGER
    )
    return objects.thing_url(resource, namespace, name)


def _restart(resource: ApiResource, namespace: str, name: str) -> str:
    """Roll all pods of a workload, as ``kubectl rollout restart`` does."""
    annotations = {RESTARTED_AT: format_time(here.clock().now())}
    body: Object = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
    _patch(resource, namespace, name, body)
    return objects.thing_url(resource, namespace, name)


def _cordon(resource: ApiResource, namespace: str, name: str) -> str:
    _patch(resource, namespace, name, {"spec": {"unschedulable": True}})
    return objects.thing_url(resource, namespace, name)


def _uncordon(resource: ApiResource, namespace: str, name: str) -> str:
    _patch(resource, namespace, name, {"spec": {"unschedulable": None}})
    return objects.thing_url(resource, namespace, name)


def _patch(resource: ApiResource, namespace: str, name: str, body: Object) -> None:
    here.session().acting.client.patch(
        resource.gvr, name, body, namespace, patch_type=MERGE_PATCH, field_manager=FIELD_MANAGER
    )


_DEEDS: dict[str, Callable[[ApiResource, str, str], str]] = {
    "delete": _delete,
    "scale": _scale,
    "restart": _restart,
    "cordon": _cordon,
    "uncordon": _uncordon,
}
"""The value of a button → what it does, and where the browser goes then."""
