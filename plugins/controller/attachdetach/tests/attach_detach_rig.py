"""Nodes, pods, one disk, and the controller between them."""

from hyperkube_controller.attachdetach import Attachdetach

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.kinds.resources import EVENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from hyperkube.testing.controller_rig import ControllerRig

READY = [{"type": "Ready", "status": "True"}]
LOST = [{"type": "Ready", "status": "Unknown"}]
_CLAIM = {"namespace": "d", "name": "c", "uid": "uc"}
VOLUME = {
    "kind": "PersistentVolume",
    "metadata": {"name": "pv"},
    "spec": {"disk": {"id": "d1"}, "accessModes": ["ReadWriteOnce"], "claimRef": _CLAIM},
}


class Disks:
    """A kind whose disks are in a shelf; notes what it is asked."""

    def __init__(self):
        self.done, self.broken, self.lost = [], False, False

    def supports(self, volume):
        return "disk" in volume

    def can_attach(self, _spec):
        return True

    def volume_name(self, spec):
        return spec.volume["disk"]["id"]

    def attach(self, spec, node):
        if self.broken:
            raise VolumeFailed("no such disk")
        self.done.append(f"attach {self.volume_name(spec)} {node['metadata']['name']}")
        return "/dev/d"

    def detach(self, volume_name, node_name):
        if self.broken:
            raise VolumeFailed("it sticks")
        self.done.append(f"detach {volume_name} {node_name}")

    def volumes_are_attached(self, specs, _node):
        return {spec.name: not self.lost for spec in specs}

    def wait_for_attach(self, _spec, device, _pod, _node):
        return device


class Drivers(Disks):
    """Volumes of drivers, instead."""

    def supports(self, volume):
        return "csi" in volume

    def volume_name(self, spec):
        return spec.volume["csi"]["volumeHandle"]


def node(name, conditions=READY, in_use=(), **spec):
    meta = {"name": name, "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"}}
    status = {"conditions": conditions, "volumesInUse": list(in_use)}
    return {"kind": "Node", "metadata": meta, "spec": spec, "status": status}


def pod(name, where, phase="Running"):
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}, {"name": "e", "emptyDir": {}}]
    meta = {"name": name, "namespace": "d", "uid": name}
    return {
        "kind": "Pod",
        "metadata": meta,
        "spec": {"nodeName": where, "volumes": volumes},
        "status": {"phase": phase},
    }


def populate(rig, *pods, nodes=None, volume=VOLUME):
    claim = {"metadata": {"name": "c", "namespace": "d", "uid": "uc"}, "spec": {"volumeName": "pv"}}
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, {"kind": "PersistentVolumeClaim", **claim})
    if volume:
        rig.client.seed(PERSISTENT_VOLUMES, volume)
    rig.client.seed(NODES, *(nodes or [node("a"), node("b")]))
    rig.client.seed(PODS, *pods)


class World(ControllerRig):
    def __init__(self, *pods, nodes=None, volume=VOLUME, kinds=Disks):
        super().__init__(Attachdetach)
        self.disks = kinds()
        self.plugins[0]._kinds._kinds = [("example.com/disk", self.disks)]
        populate(self, *pods, nodes=nodes, volume=volume)
        self.settle()

    def remove(self, name):
        self.client.delete(PODS, name, "d", options={"gracePeriodSeconds": 0})

    def attached(self, name):
        return self.client.get(NODES, name)["status"].get("volumesAttached") or []

    def events(self):
        self.plugins[0]._recorder.flush()
        return self.client.objects(EVENTS)

    def said(self):
        return [(event["reason"], event["message"]) for event in self.events()]
