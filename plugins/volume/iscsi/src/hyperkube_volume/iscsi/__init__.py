"""iscsi: a LUN of an iSCSI target, logged in to by the node, formatted once and mounted for the pods that have it.

Source: kubernetes ``pkg/volume/iscsi``.
"""

from hyperkube_volume.iscsi.plugin import Iscsi

__all__ = ["Iscsi"]
