"""What is kept of the pods behind services, and when it is read again."""

from hyperkube_lib.endpoints import EndpointPods, endpoint_pods

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.kinds.resources import PODS

WEB = {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"selector": {"app": "web"}}}


def pod(name, *, ready="True", **labels):
    conditions = [{"type": "Ready", "status": ready}]
    meta = {"name": name, "namespace": "shop", "labels": {"app": "web", **labels}}
    return {"metadata": meta, "status": {"podIP": "10.0.0.1", "conditions": conditions}}


class Rig:
    """An informer that is refreshed by hand and counts what is read of it."""

    def __init__(self, *pods):
        self.client = FakeClient()
        self.informer = InformerFactory(self.client).informer(PODS)
        self.pods = EndpointPods(self.informer)
        self.reads, get = [], self.informer.get
        self.informer.get = lambda namespace, name: (self.reads.append(name), get(namespace, name))[1]
        self.client.seed(PODS, *pods)
        self.informer.refresh()

    def ready(self, service=WEB):
        return {pod.name: pod.is_ready for pod in self.pods.of(service)}


def test_a_pod_is_read_once_until_it_changes():
    rig = Rig(pod("a"), pod("b"))
    rig.ready()
    rig.ready()
    assert sorted(rig.reads) == ["a", "b"]

    status = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    rig.client.patch(PODS, "a", status, "shop", subresource="status")
    rig.informer.refresh()

    assert rig.ready() == {"a": False, "b": True}
    assert sorted(rig.reads) == ["a", "a", "b"]


def test_a_pod_that_is_made_again_is_another_one():
    rig = Rig(pod("a"))
    (before,) = rig.pods.of(WEB)
    rig.client.delete(PODS, "a", "shop", options={"gracePeriodSeconds": 0})
    rig.informer.refresh()
    assert rig.pods.of(WEB) == []

    rig.client.seed(PODS, pod("a"))
    rig.informer.refresh()

    (after,) = rig.pods.of(WEB)
    assert before.uid != after.uid


def test_a_pod_that_changes_while_it_is_read_is_not_kept():
    rig = Rig(pod("a"))
    get = rig.informer.get

    def changing(namespace, name):
        found = get(namespace, name)
        if len(rig.reads) == 1:
            rig.client.patch(PODS, name, {"status": {"conditions": []}}, namespace, subresource="status")
            rig.informer.refresh()
        return found

    rig.informer.get = changing

    assert rig.ready() == {"a": True}
    assert rig.ready() == {"a": False}


def test_all_labels_of_a_selector_count():
    rig = Rig(pod("a", track="stable"), pod("b", track="canary"), pod("c"))
    canary = {**WEB, "spec": {"selector": {"app": "web", "track": "canary"}}}

    assert [*rig.ready(canary)] == ["b"]
    assert rig.ready({**WEB, "spec": {}}) == {}


def test_only_so_many_are_kept(monkeypatch):
    monkeypatch.setattr(endpoint_pods, "KEPT", 2)
    rig = Rig(pod("a"), pod("b"), pod("c"))
    rig.ready()

    rig.ready()

    assert rig.reads == ["a", "b", "c", "a", "b", "c"]


def test_what_is_forgotten_is_read_again():
    rig = Rig(pod("a"))
    rig.ready()

    rig.pods.forget()

    assert rig.ready() == {"a": True}
    assert rig.reads == ["a", "a"]
