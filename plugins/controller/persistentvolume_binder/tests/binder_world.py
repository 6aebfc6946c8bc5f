"""A cluster for the binder's tests: claims, volumes, classes, and a provisioner that remembers."""

from hyperkube_controller.persistentvolume_binder import PersistentvolumeBinder

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS, STORAGE_CLASSES
from hyperkube.testing.controller_rig import ControllerRig


def claim(name="c", size="1Gi", storage_class="", **spec):
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    if storage_class is not None:
        wanted["storageClassName"] = storage_class
    return {
        "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "d", "uid": f"uid-{name}"},
        "spec": wanted,
    }  # fmt: skip


def volume(name="v", size="1Gi", storage_class="", annotations=None, labels=None, **spec):
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": storage_class, **spec}
    meta = {"name": name, "annotations": annotations or {}, "labels": labels or {}}
    return {"kind": "PersistentVolume", "metadata": meta, "spec": spec}


def storage_class(provisioner="example.com/disks", **more):
    return {"kind": "StorageClass", "metadata": {"name": "fast"}, "provisioner": provisioner, **more}


class Disks:
    """A provisioner that remembers what it was asked."""

    def __init__(self, refuse=""):
        self.made, self.gone, self.refuse = [], [], refuse

    def provision(self, request):
        if self.refuse:
            raise VolumeFailed(self.refuse)
        self.made.append(request.claim["metadata"]["name"])
        return {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}}

    def delete(self, volume):
        if self.refuse:
            raise VolumeFailed(self.refuse)
        self.gone.append(volume["metadata"]["name"])


class World(ControllerRig):
    """A bench with claims, volumes, nodes, and a class `fast` whose provisioner is at hand."""

    def __init__(
        self, claims=(), volumes=(), classes=(), pods=(), disks=None, nodes=("n", "full"), refusals=(), **settings
    ):
        super().__init__(PersistentvolumeBinder, settings=settings)
        self.disks = disks or Disks()
        (binder,) = self.plugins
        binder._installed = frozenset({"example.com/disks"})
        binder._kinds["example.com/disks"] = self.disks
        self.client.seed(NODES, *({"kind": "Node", "metadata": {"name": name}} for name in nodes))
        for error in refusals:
            self.client.fail_next("create", "persistentvolumes", error)
        for resource, objects in (
            (PERSISTENT_VOLUME_CLAIMS, claims), (PERSISTENT_VOLUMES, volumes), (STORAGE_CLASSES, classes), (PODS, pods),
        ):  # fmt: skip
            self.client.seed(resource, *objects)
        self.settle()

    def claim(self, name="c"):
        return self.client.get(PERSISTENT_VOLUME_CLAIMS, name, "d")

    def volume(self, name="v"):
        return self.client.get(PERSISTENT_VOLUMES, name)

    def said(self):
        self.plugins[0]._recorder.flush()
        return {event["reason"]: event["message"] for event in self.client.objects(EVENTS)}
