import sys

import pytest
from hyperkube_authz.node import Node

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.hookspecs.authz import Attributes
from hyperkube.kinds.resources import PERSISTENT_VOLUMES, POD_CERTIFICATE_REQUESTS, PODS
from hyperkube.machinery.fields import FieldRequirement
from hyperkube.machinery.groups import GroupVersionResource
from hyperkube.machinery.users import UserInfo, node
from hyperkube.plugin import PluginContext
from hyperkube.testing.contracts.authz import AuthzContract

POD = {
    "metadata": {"name": "p", "namespace": "ns"},
    "spec": {
        "nodeName": "n1",
        "serviceAccountName": "sa",
        "imagePullSecrets": [{"name": "pull"}],
        "containers": [
            {
                "name": "c",
                "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "env", "key": "k"}}}],
                "envFrom": [{"configMapRef": {"name": "settings"}}],
            }
        ],
        "volumes": [
            {"name": "s", "secret": {"secretName": "mounted"}},
            {"name": "p", "projected": {"sources": [{"configMap": {"name": "kube-root-ca.crt"}}]}},
            {"name": "d", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "e", "ephemeral": {}},
        ],
    },
}
POD["spec"]["volumes"][3]["ephemeral"] = {"volumeClaimTemplate": {}}
POD["spec"]["resourceClaims"] = [{"name": "a", "resourceClaimName": "named"}, {"name": "b"}]
POD["status"] = {
    "resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}],
    "extendedResourceClaimStatus": {"resourceClaimName": "extended"},
}
VOLUME = {
    "metadata": {"name": "pv"},
    "spec": {
        "claimRef": {"namespace": "ns", "name": "data"},
        "csi": {"nodePublishSecretRef": {"name": "publish", "namespace": "csi"}},
    },
}
ATTACHMENTS = GroupVersionResource("storage.k8s.io", "v1", "volumeattachments")


class World:
    def __init__(self):
        self.client = FakeClient()
        self.informers = InformerFactory(self.client, self.client.clock)
        self.plugin = Node(PluginContext(name="Node", client=self.client, informers=self.informers))
        self.plugin.start()
        self.plugin.waits_for(Attributes(node("n1"), "get", resource="nodes"))  # which begins to follow pods
        self.client.seed(PODS, POD)
        self.client.seed(PERSISTENT_VOLUMES, VOLUME)
        self.client.seed(ATTACHMENTS, {"metadata": {"name": "va"}, "spec": {"nodeName": "n1"}})
        self.informers.refresh()

    def ask(self, name, verb, resource, object_name="", *, group="", namespace="ns", subresource=""):
        return self.plugin.authz_authorize(
            Attributes(node(name), verb, group, "v1", resource, subresource, namespace, object_name)
        )


@pytest.fixture(scope="module")
def world():
    return World()


@pytest.mark.parametrize(
    ("verb", "resource", "name", "more"),
    [
        ("get", "pods", "p", {}),
        ("get", "secrets", "mounted", {}),
        ("watch", "secrets", "env", {}),
        ("list", "secrets", "pull", {}),
        ("get", "configmaps", "settings", {}),
        ("get", "configmaps", "kube-root-ca.crt", {}),
        ("get", "persistentvolumeclaims", "data", {}),
        ("get", "persistentvolumeclaims", "p-e", {}),
        ("patch", "persistentvolumeclaims", "data", {"subresource": "status"}),
        ("get", "persistentvolumes", "pv", {"namespace": ""}),
        ("get", "secrets", "publish", {"namespace": "csi"}),
        ("get", "volumeattachments", "va", {"group": "storage.k8s.io", "namespace": ""}),
        ("get", "resourceclaims", "named", {"group": "resource.k8s.io"}),
        ("get", "resourceclaims", "made", {"group": "resource.k8s.io"}),
        ("get", "resourceclaims", "extended", {"group": "resource.k8s.io"}),
        ("create", "serviceaccounts", "sa", {"subresource": "token"}),
    ],
)
def test_a_kubelet_reads_what_its_pods_need_and_no_other_does(world, verb, resource, name, more):
    assert world.ask("n1", verb, resource, name, **more).allowed

    other = world.ask("n2", verb, resource, name, **more)
    assert not other.allowed
    assert other.reason == "no relationship found between node 'n2' and this object"


@pytest.mark.parametrize(
    ("verb", "resource", "name", "more", "reason"),
    [
        ("update", "secrets", "mounted", {}, "can only read resources of this type"),
        ("list", "secrets", "", {}, "No Object name found"),
        ("list", "persistentvolumeclaims", "data", {}, "can only get individual resources of this type"),
        ("create", "serviceaccounts", "", {}, "can only create tokens for individual service accounts"),
        ("get", "nodes", "n2", {"namespace": ""}, "node 'n1' cannot read 'n2', only its own Node object"),
        ("list", "nodes", "", {"namespace": ""}, "node 'n1' cannot read all nodes, only its own Node object"),
        (
            "get",
            "leases",
            "n1",
            {"group": "coordination.k8s.io"},
            'can only access leases in the "kube-node-lease" system namespace',
        ),
        (
            "delete",
            "csinodes",
            "n2",
            {"group": "storage.k8s.io", "namespace": ""},
            "can only access CSINode with the same name as the requesting node",
        ),
    ],
)
def test_the_rest_is_refused_in_kubernetes_words(world, verb, resource, name, more, reason):
    assert world.ask("n1", verb, resource, name, **more).reason == reason


@pytest.mark.parametrize(
    ("verb", "resource", "name", "more"),
    [
        ("get", "nodes", "n1", {"namespace": ""}),
        ("create", "nodes", "", {"namespace": ""}),
        ("patch", "nodes", "n1", {"namespace": "", "subresource": "status"}),
        ("create", "pods", "p", {"subresource": "eviction"}),
        ("update", "leases", "n1", {"group": "coordination.k8s.io", "namespace": "kube-node-lease"}),
        ("create", "events", "", {}),
        ("watch", "services", "", {"namespace": ""}),
    ],
)
def test_its_own_work_is_allowed(world, verb, resource, name, more):
    assert world.ask("n1", verb, resource, name, **more).allowed


def test_others_are_none_of_its_business(world):
    attributes = Attributes(UserInfo("system:node:n1"), "get", resource="secrets", namespace="ns", name="mounted")

    assert world.plugin.authz_authorize(attributes).verdict == "no opinion"
    assert world.plugin.authz_rules(UserInfo("bob"), "ns").incomplete is False
    assert world.plugin.authz_rules(node("n1"), "ns").incomplete is True


def test_decisions_change_with_what_runs():
    world = World()
    before = world.plugin.authz_epoch()

    world.client.delete(PODS, "p", "ns", options={"gracePeriodSeconds": 0})
    world.informers.refresh()

    assert world.plugin.authz_epoch() > before
    assert not world.ask("n1", "get", "secrets", "mounted").allowed


@pytest.mark.parametrize(
    ("verb", "resource", "name", "more"),
    [
        ("get", "pods", "new", {}),
        ("watch", "configmaps", "settings", {}),
        ("get", "secrets", "mounted", {}),
        ("create", "serviceaccounts", "sa", {"subresource": "token"}),
    ],
)
def test_a_pod_counts_before_the_informer_knows_it(verb, resource, name, more):
    world = World()
    world.client.delete(PODS, "p", "ns", options={"gracePeriodSeconds": 0})
    world.informers.refresh()
    world.client.seed(PODS, {**POD, "metadata": {"name": "new", "namespace": "ns"}})

    decision = world.ask("n1", verb, resource, name, **more)

    assert (decision.allowed, decision.cacheable) == (True, False)
    assert not world.ask("n2", verb, resource, name, **more).allowed


def test_what_pods_everywhere_name_costs_a_look_at_its_node_alone():
    world = World()
    alone = _calls_to_decide(world)
    world.client.delete(PODS, "p", "ns", options={"gracePeriodSeconds": 0})
    for number in range(300):
        other = {"name": f"other-{number}", "namespace": "ns"}
        world.client.seed(PODS, {**POD, "metadata": other, "spec": {**POD["spec"], "nodeName": f"n{number + 2}"}})
    world.client.seed(PODS, POD)
    world.informers.refresh()

    assert _calls_to_decide(world) == alone


def _calls_to_decide(world):
    """Count the Python calls of one decision on the service account of all pods."""
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame) if event == "call" else None)
    try:
        decision = world.ask("n1", "create", "serviceaccounts", "sa", subresource="token")
    finally:
        sys.setprofile(None)
    assert decision.allowed
    return len(calls)


def test_a_pod_counts_once_it_has_a_node():
    world = World()
    waiting = {"metadata": {"name": "q", "namespace": "ns"}, "spec": {"volumes": [{"secret": {"secretName": "late"}}]}}
    world.client.seed(PODS, waiting)
    world.informers.refresh()
    before = world.plugin.authz_epoch()
    assert not world.ask("n1", "get", "secrets", "late").allowed

    world.client.patch(PODS, "q", {"spec": {"nodeName": "n1"}}, "ns")
    world.informers.refresh()

    assert world.plugin.authz_epoch() > before
    assert world.ask("n1", "get", "secrets", "late").allowed


class TestPromises(AuthzContract):
    def build(self):
        self.world = World()
        return self.world.plugin

    def questions(self):
        words = {"resource": "secrets", "namespace": "ns", "name": "mounted"}
        return [Attributes(node(name), "get", **words) for name in ("n1", "n2")]

    def change(self, built):
        self.world.client.delete(PODS, "p", "ns", options={"gracePeriodSeconds": 0})
        self.world.informers.refresh()
        return True


@pytest.mark.parametrize(
    ("verb", "group", "resource"),
    [
        ("list", "", "pods"),
        ("watch", "", "pods"),
        ("list", "resource.k8s.io", "resourceslices"),
        ("deletecollection", "resource.k8s.io", "resourceslices"),
    ],
)
def test_many_objects_at_once_are_only_those_of_the_node(world, verb, group, resource):
    def ask(*terms):
        selector = tuple(FieldRequirement(*term) for term in terms)
        question = Attributes(node("n1"), verb, group, "v1", resource, field_selector=selector)
        return world.plugin.authz_authorize(question)

    assert ask(("status.phase", "!=", "Failed"), ("spec.nodeName", "=", "n1")).allowed
    assert not ask(("spec.nodeName", "!=", "n1")).allowed
    assert not ask(("spec.nodeName", "=", "n2")).allowed
    assert "field selector" in ask().reason


@pytest.mark.parametrize(
    ("name", "verb", "object_name", "subresource", "reason"),
    [
        ("n1", "create", "", "", None),
        ("n1", "get", "mine", "", None),
        ("n2", "get", "mine", "", "no relationship found between node 'n2' and this object"),
        ("n1", "get", "none", "", "no relationship found between node 'n1' and this object"),
        ("n1", "list", "", "", "can only list/watch podcertificaterequests with nodeName field selector"),
        ("n1", "delete", "mine", "", "nodes may not delete podcertificaterequests"),
        ("n1", "update", "mine", "status", "nodes may not access the status subresource of PodCertificateRequests"),
    ],
)
def test_a_kubelet_makes_requests_for_certificates_and_reads_its_own(name, verb, object_name, subresource, reason):
    world = World()
    world.client.seed(
        POD_CERTIFICATE_REQUESTS, {"metadata": {"name": "mine", "namespace": "ns"}, "spec": {"nodeName": "n1"}}
    )

    decision = world.ask(
        name, verb, "podcertificaterequests", object_name, group="certificates.k8s.io", subresource=subresource
    )

    assert decision.allowed is (reason is None)
    assert decision.reason == (reason or "")


def test_a_kubelet_watches_the_requests_of_its_node(world):
    selector = (FieldRequirement("spec.nodeName", "=", "n1"),)
    asked = Attributes(
        node("n1"), "watch", "certificates.k8s.io", "v1beta1", "podcertificaterequests", field_selector=selector
    )

    assert world.plugin.authz_authorize(asked).allowed


def test_pods_are_read_when_the_first_node_asks_and_its_question_waits_for_them():
    client = FakeClient()
    informers = InformerFactory(client, client.clock)
    plugin = Node(PluginContext(name="Node", client=client, informers=informers))
    plugin.start()
    client.seed(PODS, POD)
    informers.refresh()
    asked = Attributes(node("n1"), "get", "", "v1", "secrets", "", "ns", "mounted")
    others = Attributes(UserInfo("bob"), "get", "", "v1", "secrets", "", "ns", "mounted")

    before = {informer.resource for informer in informers.all()}
    waited = [plugin.waits_for(others), plugin.waits_for(asked)]
    follows = {informer.resource for informer in informers.all()} - before
    informers.start()
    decision = plugin.authz_authorize(asked)
    informers.stop()

    assert (waited, follows) == ([False, True], {PODS})
    assert (decision.allowed, decision.cacheable) == (True, True)
    assert not plugin.waits_for(asked)
