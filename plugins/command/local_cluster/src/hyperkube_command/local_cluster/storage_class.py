"""The storage class of a local cluster: folders below its data folder, so that claims are served out of the box."""

from __future__ import annotations

from hyperkube.client.client import Client
from hyperkube.kinds.resources import STORAGE_CLASSES
from hyperkube.machinery.errors import AlreadyExists
from hyperkube.machinery.objects import Object
from hyperkube.plugin.loader import installed

NAME = "local-path"
PROVISIONER = "hyperkube.dev/local-path"
CLASS: Object = {
    "kind": "StorageClass",
    "apiVersion": "storage.k8s.io/v1",
    "metadata": {"name": NAME, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": PROVISIONER,
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}


def ensure_storage_class(client: Client) -> bool:
    """Create the default class if its provisioner is installed; one that is there stays as it is; tell if it was made.

    Raises:
        ApiError: the API refuses it.
    """
    if PROVISIONER not in installed("volume"):
        return False
    try:
        client.create(STORAGE_CLASSES, CLASS)
    except AlreadyExists:
        return False
    return True
