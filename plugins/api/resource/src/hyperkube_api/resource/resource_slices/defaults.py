"""Defaults of ResourceSlices; in place and idempotent.

Source: kubernetes pkg/apis/resource/v1/defaults.go.
"""

from __future__ import annotations

from datetime import datetime

from hyperkube.machinery.objects import Object
from hyperkube.machinery.times import format_time


def default_taints(spec: Object, now: datetime) -> None:
    """Fill in since when the devices of a slice are tainted: now, unless the time is given."""
    for device in spec.get("devices") or ():
        for taint in device.get("taints") or ():
            if not taint.get("timeAdded"):
                taint["timeAdded"] = format_time(now)
