"""Taints as ``--register-with-taints`` writes them. Source: kubernetes ``pkg/util/taints/taints.go`` (parseTaint)."""

from __future__ import annotations

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object

TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def read_taint(text: str) -> Object:
    """Read ``key=value:effect`` or ``key:effect``.

    Raises:
        UsageError: it is neither.
    """
    pair, colon, effect = text.rpartition(":")
    if not colon or effect not in TAINT_EFFECTS:
        known = ", ".join(TAINT_EFFECTS)
        raise UsageError(f"--register-with-taints: {text!r} is not key=value:effect or key:effect (effects: {known})")
    key, _, value = pair.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}
