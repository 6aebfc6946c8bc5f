"""Which news of a placed pod may help pods that are not placed yet."""

from __future__ import annotations

from hyperkube.kinds.pods import containers
from hyperkube.machinery.objects import Object, labels_of


def asks_otherwise(old: Object, new: Object) -> bool:
    """Tell whether a placed pod was resized: like one that went, it may have left room."""
    return any(
        before.get("resources") != after.get("resources")
        for before, after in zip(containers(old), containers(new), strict=False)
    )


def concerns_others(old: Object, new: Object) -> bool:
    """Tell whether a placed pod's news may help others: it was placed just now, or has other labels."""
    if old.get("spec", {}).get("nodeName") != new.get("spec", {}).get("nodeName"):
        return True
    return labels_of(old) != labels_of(new)
