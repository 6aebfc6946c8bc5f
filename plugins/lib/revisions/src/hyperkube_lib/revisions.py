"""Histories of pod templates: each template that an owner ever had is a ControllerRevision, numbered in order.

Source: kubernetes ``pkg/controller/history``, ``pkg/controller/statefulset/stateful_set_utils.go``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from hyperkube.client.actions import Action, Create, Delete, Update
from hyperkube.kinds.resources import CONTROLLER_REVISIONS
from hyperkube.kinds.workloads import controller_reference, same_template, template_hash
from hyperkube.machinery.objects import Object, copy_object, labels_of, name_of, namespace_of

HASH_LABEL = "controller-revision-hash"
_OBJECT_HASH = "controller.kubernetes.io/hash"


@dataclass(frozen=True, slots=True)
class History:
    """What the present template amounts to.

    Attributes:
        update: the revision of the present template, made or found.
        actions: what brings the stored history in line: its creation, or its renumbering after a rollback.
    """

    update: Object
    actions: tuple[Action, ...]


def template_of(revision: Object) -> Object:
    """Return the pod template that a revision keeps."""
    template = copy_object(((revision.get("data") or {}).get("spec") or {}).get("template") or {})
    template.pop("$patch", None)
    return template


def track(owner: Object, api_version: str, kind: str, revisions: Sequence[Object]) -> History:
    """Return the revision of the owner's present template, and what makes the stored history say so."""
    template = (owner.get("spec") or {}).get("template") or {}
    ordered = sorted(revisions, key=lambda revision: (revision.get("revision", 0), name_of(revision)))
    latest = ordered[-1].get("revision", 0) if ordered else 0
    for known in reversed(ordered):
        if same_template(template_of(known), template):
            if known is ordered[-1]:
                return History(known, ())
            renumbered = {**known, "revision": latest + 1}
            return History(renumbered, (Update(CONTROLLER_REVISIONS, renumbered),))
    digest = template_hash(template, (owner.get("status") or {}).get("collisionCount"))
    made: Object = {
        "kind": "ControllerRevision",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{name_of(owner)}-{digest}",
            "namespace": namespace_of(owner),
            "labels": {**labels_of(template), _OBJECT_HASH: digest, HASH_LABEL: digest},
            "ownerReferences": [controller_reference(owner, api_version, kind)],
        },
        "data": {"spec": {"template": _in_order({**template, "$patch": "replace"})}},
        "revision": latest + 1,
    }
    return History(made, (Create(CONTROLLER_REVISIONS, made),))


def _in_order(value: Any) -> Any:
    """Return a copy with the keys of every object sorted: clients compare the data byte by byte with Go's own."""
    if isinstance(value, dict):
        return {key: _in_order(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_in_order(entry) for entry in value]
    return value


def surplus(owner: Object, revisions: Sequence[Object], live: Collection[str]) -> list[Action]:
    """Return the deletion of the oldest revisions beyond ``revisionHistoryLimit``; those named `live` stay."""
    limit = (owner.get("spec") or {}).get("revisionHistoryLimit", 10)
    old = [revision for revision in revisions if name_of(revision) not in live]
    old.sort(key=lambda revision: revision.get("revision", 0))
    return [Delete.of(CONTROLLER_REVISIONS, revision) for revision in old[: max(0, len(old) - limit)]]
