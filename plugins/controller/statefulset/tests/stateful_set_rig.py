"""A stateful set, its controller and a kubelet that makes pods ready when it is told to."""

from hyperkube_controller.statefulset import Statefulset

from hyperkube.kinds.resources import EVENTS, PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from hyperkube.machinery.times import format_time
from hyperkube.testing.controller_rig import ControllerRig

READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def stateful_set(replicas=3, **spec):
    return {
        "kind": "StatefulSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": "db", "namespace": "d"},
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}},
            "template": {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}],
            **spec,
        },
    }


class World(ControllerRig):
    def __init__(self, **spec):
        super().__init__(Statefulset)
        self.client.seed(STATEFUL_SETS, stateful_set(**spec))
        self.settle()

    def names(self):
        return sorted(pod["metadata"]["name"] for pod in self.client.objects(PODS))

    def images(self):
        return {p["metadata"]["name"]: p["spec"]["containers"][0]["image"] for p in self.client.objects(PODS)}

    def ready(self, rounds=1):
        """Play the kubelet: what is there becomes ready."""
        for _ in range(rounds):
            for pod in self.client.objects(PODS):
                self.client.patch(PODS, pod["metadata"]["name"], {"status": READY}, "d", subresource="status")
            self.settle()

    def set(self, **spec):
        self.client.patch(STATEFUL_SETS, "db", {"spec": spec}, "d")
        self.settle()

    def set_image(self, image):
        self.set(template={"spec": {"containers": [{"name": "c", "image": image}]}})

    def time(self):
        return format_time(self.clock.now())

    def status(self):
        return self.client.get(STATEFUL_SETS, "db", "d")["status"]


def events(world):
    world.plugins[0]._recorder.flush()
    return {(event["type"], event["reason"], event["message"]) for event in world.client.objects(EVENTS)}


def claims(world):
    return {claim["metadata"]["name"]: claim for claim in world.client.objects(PERSISTENT_VOLUME_CLAIMS)}


def owners(claim):
    return [(owner["kind"], owner["name"]) for owner in claim["metadata"].get("ownerReferences") or []]
