"""VolumeBinding: a pod goes where its volumes are, or can be made; those that wait for a first user are bound now.

The plugin (`plugin`) asks which volumes a claim can have (`matching`), plans for each node how the pod gets all of
them (`plans`), and after the choice of a node follows how the binding comes along (`progress`).
"""

from hyperkube_scheduler.volume_binding.matching import fits_claim
from hyperkube_scheduler.volume_binding.plans import SELECTED_NODE
from hyperkube_scheduler.volume_binding.plugin import (
    CONFLICT_REASON,
    IMMEDIATE_REASON,
    NO_SPACE_REASON,
    NO_VOLUME_LEFT_REASON,
    NO_VOLUME_REASON,
    VolumeBinding,
)

__all__ = [
    "CONFLICT_REASON",
    "IMMEDIATE_REASON",
    "NO_SPACE_REASON",
    "NO_VOLUME_LEFT_REASON",
    "NO_VOLUME_REASON",
    "SELECTED_NODE",
    "VolumeBinding",
    "fits_claim",
]
