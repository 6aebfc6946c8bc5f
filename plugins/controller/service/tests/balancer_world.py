"""What the tests of the controller share: a cloud whose balancers are addresses counted up, services and nodes."""

from hyperkube_controller.service import Service

from hyperkube.kinds.resources import EVENTS, NODES, SERVICES
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.testing.controller_rig import ControllerRig

CLOUD = {"cloud_provider": "test"}
EXCLUDED = "node.kubernetes.io/exclude-from-external-load-balancers"


class Balancers:
    """An address per service, for ever the same."""

    def __init__(self):
        self.held, self.nodes, self.full, self.throttled, self.calls = {}, [], False, False, []

    def get(self, cluster, service):
        address = self.held.get(service["metadata"]["name"])
        return {"ingress": [{"ip": address}]} if address else None

    def ensure(self, cluster, service, nodes):
        self.calls.append("ensure")
        if self.full:
            raise HyperkubeError("no address left")
        self.nodes = [node["metadata"]["name"] for node in nodes]
        name = service["metadata"]["name"]
        self.held.setdefault(name, f"192.0.2.{len(self.held) + 1}")
        return {"ingress": [{"ip": self.held[name]}]}

    def ensure_deleted(self, cluster, service):
        self.calls.append("delete")
        if self.throttled:
            raise HyperkubeError("throttled")
        self.held.pop(service["metadata"]["name"], None)


def service(kind="LoadBalancer", **spec):
    meta = {"name": "web", "namespace": "d"}
    return {"kind": "Service", "apiVersion": "v1", "metadata": meta, "spec": {"type": kind, **spec}, "status": {}}


def node(name, ready="True", **labels):
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def run(*services, options=None):
    rig = ControllerRig(Service, settings=CLOUD if options is None else options)
    rig.client.seed(NODES, node("a"), node("b", "False"), node("c", **{EXCLUDED: ""}))
    rig.client.seed(SERVICES, *services)
    rig.settle()
    return rig


def said(rig):
    rig.plugins[0]._recorder.flush()
    return {event["reason"]: event["message"] for event in rig.client.objects(EVENTS)}
