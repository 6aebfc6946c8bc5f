"""local-path-storage-class: the default storage class of a local cluster, so that claims are served out of the box.

Volumes are folders below the cluster's data folder, made by the provisioner ``hyperkube.dev/local-path``. A class of
that name that is there already stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube.hookspecs import hookimpl
from hyperkube.machinery.objects import Object
from hyperkube.plugin import Plugin

STORAGE_CLASS: Object = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {
        "name": "local-path",
        "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists"},
        "annotations": {"storageclass.kubernetes.io/is-default-class": "true"},
    },
    "provisioner": "hyperkube.dev/local-path",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}


class LocalPathStorageClass(Plugin):
    """Consists of one object."""

    @hookimpl
    def addon_objects(self) -> Sequence[Object]:
        """Return the storage class."""
        return [STORAGE_CLASS]
