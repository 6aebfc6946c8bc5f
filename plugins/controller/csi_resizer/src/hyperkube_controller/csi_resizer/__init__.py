"""csi-resizer: lets drivers grow the volumes of claims that ask for more; the rest is often the node's.

Source: github.com/kubernetes-csi/external-resizer ``pkg/controller``, ``pkg/resizer/csi_resizer.go``.
"""

from hyperkube_controller.csi_resizer.controller import CsiResizer

__all__ = ["CsiResizer"]
