"""Table rows of roles and bindings, as kubectl prints them.

Source: kubernetes pkg/printers/internalversion/printers.go.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hyperkube_api.meta import cells

from hyperkube.machinery.objects import Object


def role(obj: Object, now: datetime) -> list[Any]:
    """Return when it was made."""
    del now
    return [cells.name(obj), cells.created(obj)]


cluster_role = role


def role_binding(obj: Object, now: datetime) -> list[Any]:
    """Return the role; wide: who has it."""
    reference = obj.get("roleRef") or {}
    subjects = obj.get("subjects") or []
    users = [item.get("name") or "" for item in subjects if item.get("kind") == "User"]
    groups = [item.get("name") or "" for item in subjects if item.get("kind") == "Group"]
    accounts = [
        f"{item.get('namespace') or ''}/{item.get('name') or ''}"
        for item in subjects
        if item.get("kind") == "ServiceAccount"
    ]
    return [
        cells.name(obj),
        f"{reference.get('kind') or ''}/{reference.get('name') or ''}",
        cells.age(obj, now),
        ", ".join(users),
        ", ".join(groups),
        ", ".join(accounts),
    ]


cluster_role_binding = role_binding
