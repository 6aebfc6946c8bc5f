"""csi-provisioner: makes volumes of CSI drivers for claims, and deletes them when their claims are gone.

The persistentvolume-binder names the driver and the node on a claim; this makes the volume, and the binder binds it.

Sources: github.com/kubernetes-csi/external-provisioner ``pkg/controller``, and
github.com/kubernetes-sigs/sig-storage-lib-external-provisioner ``controller/controller.go``.
"""

from hyperkube_controller.csi_provisioner.controller import CsiProvisioner

__all__ = ["CsiProvisioner"]
