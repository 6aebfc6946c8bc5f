"""CSI migration: volumes and classes of kinds that have left the tree, as the CSI drivers know them that took over.

Pure translation; who asks decides whether there is such a driver.
Source: kubernetes ``staging/src/k8s.io/csi-translation-lib``.
"""

from hyperkube_lib.csi_translation.kinds import (
    IN_TREE,
    InTreeKind,
    TranslationFailed,
    kind_of_driver,
    kind_of_provisioner,
    kind_of_volume,
)
from hyperkube_lib.csi_translation.topology import ZONES, moved_terms
from hyperkube_lib.csi_translation.translate import (
    repaired_handle,
    taken_over,
    translated_back,
    translated_class,
    translated_inline,
    translated_volume,
)

__all__ = [
    "IN_TREE",
    "ZONES",
    "InTreeKind",
    "TranslationFailed",
    "kind_of_driver",
    "kind_of_provisioner",
    "kind_of_volume",
    "moved_terms",
    "repaired_handle",
    "taken_over",
    "translated_back",
    "translated_class",
    "translated_inline",
    "translated_volume",
]
