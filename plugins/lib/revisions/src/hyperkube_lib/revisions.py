"""Histories of pod templates: each template that an owner ever had is a ControllerRevision, numbered in order.

Sources: kubernetes ``pkg/controller/history``, ``pkg/controller/statefulset/stateful_set_utils.go``,
``pkg/controller/daemon/update.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from hyperkube.client.actions import Action, Delete
from hyperkube.client.client import Client
from hyperkube.kinds.resources import CONTROLLER_REVISIONS
from hyperkube.kinds.workloads import controller_reference, same_template, template_hash
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import Object, annotations_of, copy_object, labels_of, metadata, name_of, namespace_of

HASH_LABEL = "controller-revision-hash"
"""On pods: which revision they are of. On the revisions of daemon sets: their hash."""
OBJECT_HASH_LABEL = "controller.kubernetes.io/hash"
"""On the revisions of stateful sets: their hash."""
_NAME_PREFIX_MAX = 223


@dataclass(frozen=True, slots=True)
class Owners:
    """Whose revisions: the API version and kind of their owners, and the label that holds a revision's hash."""

    api_version: str
    kind: str
    hash_label: str


STATEFUL_SET_REVISIONS = Owners("apps/v1", "StatefulSet", OBJECT_HASH_LABEL)
DAEMON_SET_REVISIONS = Owners("apps/v1", "DaemonSet", HASH_LABEL)


def template_of(revision: Object) -> Object:
    """Return the pod template that a revision keeps."""
    template = copy_object(((revision.get("data") or {}).get("spec") or {}).get("template") or {})
    template.pop("$patch", None)
    return template


def ordered(revisions: Sequence[Object]) -> list[Object]:
    """Return the revisions by number, then by age, then by name; the latest is the last."""
    return sorted(
        revisions,
        key=lambda each: (each.get("revision", 0), metadata(each).get("creationTimestamp", ""), name_of(each)),
    )


def new_revision(owner: Object, owners: Owners, number: int, collision_count: int) -> Object:
    """Return the revision that keeps the owner's present template, to be created."""
    template = (owner.get("spec") or {}).get("template") or {}
    digest = template_hash(template, collision_count)
    meta: Object = {
        "name": f"{name_of(owner)[:_NAME_PREFIX_MAX]}-{digest}",
        "namespace": namespace_of(owner),
        "labels": {**labels_of(template), owners.hash_label: digest},
        "annotations": dict(annotations_of(owner)),
        "ownerReferences": [controller_reference(owner, owners.api_version, owners.kind)],
    }
    return {
        "kind": "ControllerRevision",
        "apiVersion": "apps/v1",
        "metadata": {key: value for key, value in meta.items() if value},
        "data": {"spec": {"template": _in_order({**template, "$patch": "replace"})}},
        "revision": number,
    }


def sync_update_revision(
    client: Client, owner: Object, owners: Owners, revisions: Sequence[Object]
) -> tuple[Object, int]:
    """Make the stored history say that the owner's present template is the latest; write only if it does not yet.

    Returns:
        The revision of the present template, and the hash collision count for the owner's status.

    Raises:
        ApiError: a write was refused.
    """
    collisions: int = (owner.get("status") or {}).get("collisionCount") or 0
    template = (owner.get("spec") or {}).get("template") or {}
    known = ordered(revisions)
    latest = known[-1].get("revision", 0) if known else 0
    for revision in reversed(known):
        if same_template(template_of(revision), template):
            if revision is known[-1]:
                return revision, collisions
            # A rollback: the revision that has the template is the latest again.
            renumbered = {**revision, "revision": latest + 1}
            return client.update(CONTROLLER_REVISIONS, renumbered, namespace_of(owner)), collisions
    while True:
        made = new_revision(owner, owners, latest + 1, collisions)
        try:
            return client.create(CONTROLLER_REVISIONS, made, namespace_of(owner)), collisions
        except AlreadyExists:
            taken = client.get(CONTROLLER_REVISIONS, name_of(made), namespace_of(owner))
            if same_template(template_of(taken), template):
                return taken, collisions  # made by an earlier sync, which the cache does not show yet
            # Another template has the same hash: the count changes the name.
            collisions += 1


def duplicates_of(revision: Object, others: Sequence[Object]) -> list[Object]:
    """Return the other revisions that keep the same template: another client made them, or an older server."""
    template = template_of(revision)
    return [
        other for other in others if name_of(other) != name_of(revision) and same_template(template_of(other), template)
    ]


def _in_order(value: Any) -> Any:
    """Return a copy with the keys of every object sorted: clients compare the data byte by byte with Go's own."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_in_order(entry) for entry in value]
    return value


def truncate_history(
    owner: Object, old: Sequence[Object], live: Collection[str], *, live_count: bool = False
) -> list[Action]:
    """Return the deletions of the oldest revisions beyond ``revisionHistoryLimit``.

    Args:
        owner: whose history it is.
        old: its revisions but for those that the status names.
        live: the names of those that pods still have; they stay.
        live_count: whether those that stay count against the limit: for daemon sets they do, for stateful sets not.
    """
    limit = (owner.get("spec") or {}).get("revisionHistoryLimit", 10)
    unused = [revision for revision in ordered(old) if name_of(revision) not in live]
    excess = (len(old) if live_count else len(unused)) - limit
    return [Delete.of(CONTROLLER_REVISIONS, revision) for revision in unused[: max(0, excess)]] if limit >= 0 else []
