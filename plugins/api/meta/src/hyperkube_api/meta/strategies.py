"""What the strategies of many kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from hyperkube.hookspecs.api import Strategy
from hyperkube.machinery.objects import Object


class StatusStrategy(Strategy):
    """A kind with ``/status``: writes to the object leave the status alone, writes to ``/status`` all else."""

    status_subresource = True
    reset_fields: ClassVar[Mapping[str, Sequence[str]]] = {"": ("status",), "status": ("spec",)}


def changed_generation(obj: Object, old: Object | None) -> bool:
    """Tell whether this is a new object, or an update of more than metadata and status."""
    if old is None:
        return True
    return bool((obj.get("metadata") or {}).get("generation") != (old.get("metadata") or {}).get("generation"))
