"""A cluster with one driver in memory, and the binder's part of provisioning done."""

from hyperkube_controller.csi_provisioner import CsiProvisioner
from hyperkube_lib.csi.memory_driver import MemoryDriver

from hyperkube.kinds.resources import (
    CSI_NODES,
    EVENTS,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from hyperkube.testing.controller_rig import ControllerRig

DRIVER = "memory.csi.example.com"
KEY = "topology.example.com/node"
GI = 1 << 30
ALL = ("CREATE_DELETE_VOLUME", "CLONE_VOLUME", "CREATE_DELETE_SNAPSHOT", "GET_CAPACITY", "MODIFY_VOLUME")


def plugin_with(driver):
    """Return the plugin as it is where a package brings the driver."""
    return type("CsiProvisioner", (CsiProvisioner,), {"own_drivers": lambda _self: {driver.name: driver}})


def claim(name="c", size="1Gi", class_name="fast", node="", annotations=None, phase="Pending", **spec):
    marks = {"volume.kubernetes.io/storage-provisioner": DRIVER, **(annotations or {})}
    if node:
        marks["volume.kubernetes.io/selected-node"] = node
    return {
        "kind": "PersistentVolumeClaim", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "d", "uid": f"u-{name}", "annotations": marks},
        "spec": {
            "storageClassName": class_name, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": size}}, **spec,
        },
        "status": {"phase": phase},
    }  # fmt: skip


def storage_class(name="fast", **more):
    return {"kind": "StorageClass", "metadata": {"name": name}, "provisioner": DRIVER, **more}


class World(ControllerRig):
    """Nodes n1 and n2 with the driver; `settle` is for the test to call."""

    def __init__(self, *claims, driver=None, plugin=None, earlier=None, **class_fields):
        self.driver = driver or MemoryDriver(controller=ALL)
        super().__init__(plugin or plugin_with(self.driver))
        if earlier is not None:
            self.client.inherit(earlier.client)
            return
        for node in ("n1", "n2"):
            self.client.seed(NODES, {"kind": "Node", "metadata": {"name": node, "labels": {KEY: node}}})
            row = {"name": DRIVER, "nodeID": node, "topologyKeys": [KEY]}
            self.client.seed(CSI_NODES, {"metadata": {"name": node}, "spec": {"drivers": [row]}})
        self.client.seed(STORAGE_CLASSES, storage_class(**class_fields))
        self.client.seed(PERSISTENT_VOLUME_CLAIMS, *claims)

    def after_restart(self):
        """Return the same world as another controller finds it, which knows nothing but what is stored."""
        return World(driver=self.driver, earlier=self)

    @property
    def volumes(self):
        return {each["metadata"]["name"]: each for each in self.client.objects(PERSISTENT_VOLUMES)}

    def claim(self, name="c"):
        return self.client.get(PERSISTENT_VOLUME_CLAIMS, name, "d")

    def release(self, name="pvc-u-c"):
        """Do as the binder when a claim is gone."""
        volume = self.client.get(PERSISTENT_VOLUMES, name)
        self.client.update(PERSISTENT_VOLUMES, {**volume, "status": {"phase": "Released"}}, subresource="status")
        self.settle()

    def said(self):
        self.plugins[0].recorder.flush()
        return [(event["reason"], event["message"]) for event in self.client.objects(EVENTS)]
