"""csi-attacher: attaches volumes of CSI drivers to nodes, as VolumeAttachments ask, and detaches them.

Source: github.com/kubernetes-csi/external-attacher ``pkg/controller/csi_handler.go``, ``trivial_handler.go``.
"""

from hyperkube_controller.csi_attacher.controller import CsiAttacher

__all__ = ["CsiAttacher"]
