"""csi-host-path: the CSI driver of that name described to the cluster, with the default storage class.

Class ``csi-host-path`` makes folders, ``csi-host-path-image`` images with a size that holds. Classes that are there
already stay as they are. The driver itself runs within the controller manager and the kubelet, which are told
``--csi-host-path-dir``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

DRIVER = "host-path.csi.hyperkube.dev"
_MODE = {"addonmanager.kubernetes.io/mode": "EnsureExists"}

CSI_DRIVER: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": DRIVER, "labels": _MODE},
    "spec": {
        "attachRequired": True,
        "podInfoOnMount": False,
        "storageCapacity": True,
        "fsGroupPolicy": "File",
        "volumeLifecycleModes": ["Persistent"],
    },
}


def storage_class(name: str, *, is_default: bool, **parameters: Any) -> Object:
    """Return a class of the driver."""
    meta: Object = {"name": name, "labels": _MODE}
    if is_default:
        meta["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    found: Object = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta}
    if parameters:
        found["parameters"] = parameters
    return {
        **found,
        "provisioner": DRIVER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }


class CsiHostPath(Plugin):
    """Consists of the driver's object and two classes."""

    @hookimpl
    def addon_objects(self) -> Sequence[Object]:
        """Return them."""
        return [
            CSI_DRIVER,
            storage_class("csi-host-path", is_default=True),
            storage_class("csi-host-path-image", is_default=False, backing="image"),
        ]
