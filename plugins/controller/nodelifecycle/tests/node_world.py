"""What the tests of the controller share: nodes, their leases and pods, and what became of them."""

from hyperkube_controller.nodelifecycle import Nodelifecycle

from hyperkube.kinds.resources import EVENTS, LEASES, NODES
from hyperkube.machinery.times import format_micro_time, format_time
from hyperkube.testing.controller_rig import ControllerRig

START = "2030-01-01T00:00:00.000000Z"


def node(ready="True", name="n1", labels=None, **spec):
    conditions = [{"type": "Ready", "status": ready, "lastHeartbeatTime": "2030-01-01T00:00:00Z"}] if ready else []
    meta = {"name": name, "labels": labels or {}}
    return {"kind": "Node", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"conditions": conditions}}


def pod(name, *tolerations):
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "d"},
        "spec": {"nodeName": "n1", "tolerations": [*tolerations]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    }


def lease(renewed, name="n1"):
    return {"kind": "Lease", "metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": {"renewTime": renewed}}


STAYS = {"operator": "Exists"}


class Rig(ControllerRig):
    """A bench with nodes that stay well, since nothing is evicted where all nodes fail."""

    def __init__(self, *well, **settings):
        super().__init__(Nodelifecycle, settings=settings)
        self.well = well
        for name in well:
            self.client.seed(NODES, node(name=name))
            self.client.seed(LEASES, lease(START, name))

    def renew(self, name):
        """Renew a node's lease."""
        spec = {"spec": {"renewTime": format_micro_time(self.clock.now())}}
        self.client.patch(LEASES, name, spec, "kube-node-lease")

    def report(self, name, ready):
        """Post a status now, as the node's kubelet does."""
        status = node(ready)["status"]
        for condition in status["conditions"]:
            condition["lastHeartbeatTime"] = format_time(self.clock.now())
        self.client.patch(NODES, name, {"status": status}, subresource="status")

    def advance(self, seconds):
        """Let time pass; the nodes that are well renew their leases every ten seconds."""
        while seconds > 0:
            step = min(10, seconds)
            for name in self.well:
                self.renew(name)
            super().advance(step)
            seconds -= step


def taints(rig, name="n1"):
    listed = rig.client.get(NODES, name)["spec"].get("taints") or []
    return {(taint["key"].partition("/")[2], taint["effect"]) for taint in listed}


def ready(rig):
    conditions = rig.client.get(NODES, "n1")["status"]["conditions"]
    return next((c["status"], c.get("reason")) for c in conditions if c["type"] == "Ready")


def events(rig):
    rig.plugins[0]._recorder.flush()
    return [(event["reason"], event["message"]) for event in rig.client.objects(EVENTS)]


def evicted(rig):
    """Return the nodes that are tainted so that their pods go."""
    listed = rig.client.objects(NODES)
    return [
        each["metadata"]["name"]
        for each in listed
        if any(effect == "NoExecute" for _, effect in taints(rig, each["metadata"]["name"]))
    ]


def failed(*names, zone="", status="False"):
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    return [node(status, name=name, labels=labels) for name in names]
