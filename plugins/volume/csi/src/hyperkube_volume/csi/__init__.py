"""csi: volumes that a driver serves, as the kubelet and the attach-detach controller see them.

Source: kubernetes ``pkg/volume/csi``.
"""

from hyperkube_volume.csi.plugin import Csi

__all__ = ["Csi"]
