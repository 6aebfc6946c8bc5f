"""rbd: an image of a Ceph cluster, mapped to a block device of the node, formatted once and mounted for its pods.

Source: kubernetes 1.27 ``pkg/volume/rbd``.
"""

from hyperkube_volume.rbd.plugin import Rbd

__all__ = ["Rbd"]
