"""When balancers are made, told of nodes and given back, as tables.

The cases are those of kubernetes ``cloud-provider/controllers/service/controller_test.go``.
"""

import pytest
from balancer_world import CLOUD, EXCLUDED, Balancers, said, service
from hyperkube_controller.service import Service
from hyperkube_controller.service.balancers import (
    DOOMED,
    FINALIZER,
    claim,
    counts_for_balancers,
    ensured,
    needs_cleanup,
    needs_update,
    targets,
    told_names,
)

from hyperkube.client.actions import Patch
from hyperkube.hookspecs.cloud import CloudFailed, ImplementedElsewhere, RetryLater
from hyperkube.kinds.resources import NODES, SERVICES
from hyperkube.machinery.errors import Conflict, NotFound
from hyperkube.testing.controller_rig import ControllerRig

INGRESS = {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}
PORT = {"port": 80, "protocol": "TCP"}


def made(kind="LoadBalancer", name="web", *, finalizer=False, status=None, deleted=False, **spec):
    found = service(kind, ports=[PORT], **spec)
    found["metadata"]["name"] = name
    if finalizer:
        found["metadata"]["finalizers"] = [FINALIZER]
    if deleted:
        found["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    return {**found, "status": status or {}}


def machine(name="n", ready="True", taint="", label=None, provider_id="id", deleted=False):
    meta = {"name": name, "labels": {} if label is None else {EXCLUDED: label}}
    if deleted:
        meta |= {"deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["example.com/keep"]}
    conditions = [{"type": "Ready" if ready else "SomethingElse", "status": ready or "True"}]
    spec = {"providerID": provider_id, "taints": [{"key": taint, "effect": "NoSchedule"}] if taint else []}
    return {"kind": "Node", "metadata": meta, "spec": spec, "status": {"conditions": conditions}}


def rig_with(*services, nodes=()):
    rig = ControllerRig(Service, settings=CLOUD)
    rig.client.seed(NODES, *nodes)
    rig.client.seed(SERVICES, *services)
    rig.settle()
    return rig


def patches(rig):
    return [path for verb, resource, path in rig.client.actions if (verb, resource) == ("patch", "services")]


@pytest.mark.parametrize(
    ("wanted", "exists", "calls", "written"),
    [
        pytest.param(made("ClusterIP"), False, [], 0, id="wants none"),
        pytest.param(made(), False, ["ensure"], 2, id="wants one"),
        pytest.param(made(loadBalancerClass="custom"), False, [], 0, id="class"),
        pytest.param(
            made("ClusterIP", finalizer=True, status=INGRESS), True, ["delete"], 1, id="finalizer, wants none any more"
        ),
        pytest.param(made(finalizer=True, status=INGRESS, deleted=True), True, ["delete"], 1, id="deleted"),
        pytest.param(made(finalizer=True), False, ["ensure"], 1, id="finalizer, wants one"),
        pytest.param(made("ClusterIP", finalizer=True), False, [], 1, id="finalizer, but no balancer"),
        pytest.param(made(finalizer=True, loadBalancerClass="custom"), False, [], 0, id="another's finalizer"),
    ],
)
def test_a_balancer_is_made_or_given_back_as_its_service_says(balancers, wanted, exists, calls, written):
    if exists:
        balancers.held["web"] = "192.0.2.1"
    rig = rig_with(wanted)

    assert balancers.calls == calls
    assert len(patches(rig)) == written
    told = said(rig)
    assert ("DeletingLoadBalancer" in told) == exists
    assert ("DeletedLoadBalancer" in told) == (written == 1 and calls != ["ensure"])


@pytest.mark.parametrize("protocol", ["TCP", "UDP", "SCTP"])
def test_any_protocol_has_a_balancer(balancers, protocol):
    wanted = made()
    wanted["spec"]["ports"] = [{**PORT, "protocol": protocol}]
    rig = rig_with(wanted)

    assert rig.client.get(SERVICES, "web", "d")["status"] == INGRESS


NODES_BEFORE = [machine("node1"), machine("node2"), machine("node3")]


@pytest.mark.parametrize(
    "kinds",
    [
        [],
        ["ClusterIP", "NodePort"],
        ["LoadBalancer"],
        ["LoadBalancer"] * 3,
        ["NodePort", "LoadBalancer", "LoadBalancer", "ClusterIP"],
    ],
    ids=lambda kinds: " ".join(kinds) or "none",
)
def test_all_services_with_a_balancer_are_told_of_a_new_node(balancers, monkeypatch, kinds):
    told = updates(monkeypatch)
    rig = rig_with(*(made(kind, f"s{index}") for index, kind in enumerate(kinds)), nodes=NODES_BEFORE)
    rig.client.seed(NODES, machine("node4"))
    rig.settle()

    names = [f"s{index}" for index, kind in enumerate(kinds) if kind == "LoadBalancer"]
    assert told == [(name, ["node1", "node2", "node3", "node4"]) for name in names]


def updates(monkeypatch, errors=()):
    """Let balancers be told of nodes alone; return the list of who was told of which."""
    told, left = [], [*errors]

    def update(_self, _cluster, about, nodes):
        if left:
            raise left.pop(0)
        told.append((about["metadata"]["name"], [each["metadata"]["name"] for each in nodes]))

    monkeypatch.setattr(Balancers, "update", update, raising=False)
    return told


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        pytest.param(machine("node2"), machine("node2"), False, id="no change"),
        pytest.param(machine("node2"), machine("node2", "False"), False, id="not ready"),
        pytest.param(machine("node2", "False"), machine("node2"), False, id="ready"),
        pytest.param(machine("node2"), machine("node2", taint="Other"), False, id="spurious"),
        pytest.param(machine("node2"), machine("node2", taint=DOOMED), False, id="tainted: it finishes what it serves"),
        pytest.param(machine("node2"), machine("node2", label=""), True, id="excluded"),
        pytest.param(machine("node2"), machine("node2", label="false"), False, id="label says false"),
        pytest.param(machine("node2", provider_id=""), machine("node2"), True, id="id set"),
        pytest.param(machine("node2"), machine("node2", provider_id="other"), True, id="id changed"),
    ],
)
def test_balancers_are_told_when_a_node_changes_for_them(balancers, monkeypatch, before, after, told):
    calls = updates(monkeypatch)
    services = [made(name=f"s{index}", externalTrafficPolicy="Local") for index in range(2)] + [made(name="s3")]
    rig = rig_with(*services, nodes=[machine("node1"), before, machine("node3")])
    rig.client.patch(NODES, "node2", {"spec": after["spec"], "metadata": {"labels": after["metadata"]["labels"]}})
    rig.client.patch(NODES, "node2", {"status": after["status"]}, subresource="status")
    rig.settle()

    left = ["node1", "node3"] if targets([after]) == [] else ["node1", "node2", "node3"]
    assert calls == ([(name, left) for name in ("s0", "s1", "s3")] if told else [])


@pytest.mark.parametrize("change", ["added", "removed", "marked"])
def test_balancers_are_told_of_nodes_that_come_and_go_with_the_doomed_left_out(balancers, monkeypatch, change):
    calls = updates(monkeypatch)
    rig = rig_with(made(), nodes=[machine("node1"), machine("node2"), machine("doomed"), machine("kept", deleted=True)])
    rig.client.patch(NODES, "doomed", {"spec": {"taints": [{"key": DOOMED}]}})
    if change == "added":
        rig.client.seed(NODES, machine("node3"))
    elif change == "removed":
        rig.client.delete(NODES, "node2")
    else:
        rig.client.patch(NODES, "node2", {"metadata": {"labels": {EXCLUDED: "true"}}})
    rig.settle()

    left = ["node1", "node2", "node3"] if change == "added" else ["node1"]
    assert calls == [("web", left)]


def test_a_balancer_that_did_not_hear_of_its_nodes_is_made_sure_of_at_once(balancers, monkeypatch):
    told = updates(monkeypatch, [CloudFailed("error please")])
    rig = rig_with(made(), nodes=NODES_BEFORE)
    rig.client.seed(NODES, machine("node4"))
    rig.settle()

    assert balancers.calls == ["ensure", "ensure"]
    assert balancers.nodes == ["node1", "node2", "node3", "node4"]
    assert told == []
    assert {sample.name: sample.value for sample in counted(rig)} == {
        "service_controller_loadbalancer_sync_total": 1,
        "service_controller_nodesync_error_total": 1,
        "service_controller_update_loadbalancer_host_latency_seconds_count": 1,
    }


def counted(rig):
    families = rig.plugins[0]._metrics.collect()
    return [each for family in families for each in family.samples if each.name.endswith(("_total", "_count"))]


def test_a_balancer_that_is_gone_need_not_hear_of_nodes(balancers, monkeypatch):
    updates(monkeypatch, [CloudFailed("error please")])
    rig = rig_with(made(), nodes=NODES_BEFORE)
    balancers.held.clear()
    rig.client.seed(NODES, machine("node4"))
    rig.settle()

    assert balancers.calls == ["ensure"]
    assert "UpdateLoadBalancerFailed" not in said(rig)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(Conflict("object conflict"), True, id="conflict"),
        pytest.param(NotFound("no such service"), False, id="gone"),
    ],
)
def test_a_status_that_was_refused_is_told_of_unless_the_service_is_gone(balancers, error, told):
    rig = ControllerRig(Service, settings=CLOUD)
    rig.client.seed(SERVICES, made(finalizer=True))
    rig.client.fail_next("patch", "services", error)
    rig.settle()

    text = "Error syncing load balancer: failed to update load balancer status: object conflict"
    assert said(rig).get("SyncLoadBalancerFailed") == (text if told else None)


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        pytest.param(None, 0, id="done"),
        pytest.param(CloudFailed("something went wrong"), 5, id="back-off"),
        pytest.param(RetryLater("LB create in progress", 42), 42, id="as long as the cloud says"),
    ],
)
def test_a_failed_balancer_is_asked_for_again_in_its_time(balancers, monkeypatch, error, waits):
    whole = Balancers.ensure
    errors = [error] if error else []

    def ensure(self, *arguments):
        if errors:
            self.calls.append("failed")
            raise errors.pop()
        return whole(self, *arguments)

    monkeypatch.setattr(Balancers, "ensure", ensure)
    rig = rig_with(made())
    if waits:
        rig.advance(waits - 1)
        assert balancers.calls == ["failed"]
        assert said(rig)["SyncLoadBalancerFailed"] == (
            f"Error syncing load balancer: failed to ensure load balancer: {error}"
        )
        rig.advance(1)

    assert balancers.calls[-1] == "ensure"


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (made("ClusterIP"), False),
        (made("NodePort", finalizer=True), True),
        (made(finalizer=True), False),
        (made(finalizer=True, deleted=True), True),
        (made(finalizer=True, loadBalancerClass="custom", deleted=True), True),
    ],
    ids=["no finalizer", "no balancer", "balancer", "deleted", "deleted, of a class"],
)
def test_what_is_to_be_cleaned_up_has_the_finalizer_and_no_use_for_a_balancer(about, expected):
    assert needs_cleanup(about) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"type": "LoadBalancer"}, {"type": "ClusterIP"}, True),
        ({"ports": [{"port": 8000}, {"port": 9000}]}, {"ports": [{"port": 8001}, {"port": 9001}]}, True),
        ({"externalIPs": ["192.0.2.1"]}, {"externalIPs": ["192.0.2.2", "192.0.2.3"]}, True),
        ({"externalIPs": ["192.0.2.1"]}, {"externalIPs": ["192.0.2.2"]}, True),
        ({}, {"externalTrafficPolicy": "Local"}, True),
        ({}, {"healthCheckNodePort": 30123}, True),
        ({"ports": [{**PORT, "targetPort": 20}]}, {"ports": [{**PORT, "targetPort": 21}]}, True),
        ({"ports": [{**PORT, "targetPort": 22}]}, {"ports": [{**PORT, "targetPort": "dns"}]}, True),
        ({}, {}, False),
        ({"ipFamilies": ["IPv4"]}, {"ipFamilies": ["IPv4", "IPv6"]}, True),
        ({"ipFamilies": ["IPv4", "IPv6"]}, {"ipFamilies": ["IPv4"]}, True),
        ({"ipFamilies": ["IPv4"]}, {"ipFamilies": ["IPv4"]}, False),
        ({}, {"ports": [{**PORT, "appProtocol": "http"}]}, True),
        ({"ports": [{**PORT, "appProtocol": "http"}]}, {"ports": [{**PORT, "appProtocol": "tcp"}]}, True),
        ({}, {"loadBalancerIP": "192.168.1.11"}, True),
        ({}, {"sessionAffinity": "ClientIP"}, True),
        ({}, {"loadBalancerSourceRanges": ["10.0.0.0/8"]}, True),
        ({}, {"externalName": "elsewhere"}, False),
        ({"type": "NodePort"}, {"type": "NodePort", "externalIPs": ["192.0.2.1"]}, False),
    ],
)
def test_a_balancer_is_made_sure_of_when_what_it_is_made_from_changes(old, new, expected):
    before, after = ({**made(), "spec": {**made()["spec"], **spec}} for spec in (old, new))

    assert needs_update(before, after) is expected


def test_another_service_of_the_name_has_another_balancer():
    other = made()
    other["metadata"]["uid"] = "another"

    assert needs_update(made(), other)


VARIANTS = {
    "plain": {},
    "tainted": {"taint": DOOMED},
    "other taint": {"taint": "other"},
    "not ready": {"ready": "False"},
    "no readiness": {"ready": ""},
    "excluded": {"label": ""},
    "deleted": {"deleted": True},
    "no id": {"provider_id": ""},
    "other id": {"provider_id": "id-2"},
}


@pytest.mark.parametrize("also", [{}, {"taint": DOOMED}, {"label": ""}, {"ready": "False"}, {"provider_id": ""}])
@pytest.mark.parametrize("name", VARIANTS)
def test_only_exclusion_and_the_clouds_id_of_a_node_count(name, also):
    """Each change to a node that has `also`, and back; what does not change it does not count either."""
    changed = {**also, **VARIANTS[name]}
    before, after = machine(**also), machine(**changed)
    expected = name in {"excluded", "no id", "other id"} and changed != also

    assert counts_for_balancers(before, after) is expected
    assert counts_for_balancers(after, before) is expected


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        (machine(), True),
        (machine(provider_id=""), True),
        (machine(ready="False"), True),
        (machine(label=""), False),
        (machine(label="true"), False),
        (machine(label="nonsense"), False),
        (machine(label="false"), True),
        (machine(taint=DOOMED), False),
        (machine(deleted=True), False),
    ],
)
def test_traffic_goes_to_nodes_that_are_to_stay(about, expected):
    assert (targets([about]) == [about]) is expected


def test_an_event_names_twenty_nodes_at_most():
    nodes = [machine(f"n{number:02}") for number in range(22)]

    assert told_names(nodes[:2]) == "[n00 n01]"
    assert told_names(nodes).endswith("n19 <2 more>]")


@pytest.mark.parametrize(
    ("status", "balancer", "written"),
    [
        (INGRESS, INGRESS["loadBalancer"], False),
        ({}, INGRESS["loadBalancer"], True),
        ({}, {}, False),
        (INGRESS, {}, True),
    ],
    ids=["same", "new", "none", "taken back"],
)
def test_a_status_is_written_when_it_changes(status, balancer, written):
    actions = ensured(made(status=status), balancer)

    assert any(isinstance(action, Patch) for action in actions) is written


def test_the_finalizer_is_added_once():
    assert claim(made(finalizer=True)) == []
    assert [action.patch["metadata"]["finalizers"] for action in claim(made())] == [[FINALIZER]]


def test_a_service_whose_balancer_is_another_controllers_goes_all_the_same(balancers, monkeypatch):
    def elsewhere(*_arguments):
        raise ImplementedElsewhere("another controller has it")

    monkeypatch.setattr(Balancers, "ensure_deleted", elsewhere)
    rig = rig_with(made())
    rig.client.delete(SERVICES, "web", "d")
    rig.settle()

    assert rig.client.objects(SERVICES) == []


def test_a_balancer_that_was_made_in_part_is_given_back_with_a_service_that_did_not_wait(balancers):
    balancers.full = True
    rig = rig_with(made())
    rig.client.patch(SERVICES, "web", {"metadata": {"finalizers": None}}, "d")
    rig.client.delete(SERVICES, "web", "d")
    rig.settle()

    assert balancers.calls[-1] == "delete"


def test_a_service_that_lost_its_finalizer_and_wants_none_any_more_gives_it_back(balancers):
    rig = rig_with(made())
    rig.client.patch(SERVICES, "web", {"metadata": {"finalizers": None}, "spec": {"type": "ClusterIP"}}, "d")
    rig.settle()

    assert balancers.held == {}
    assert rig.client.get(SERVICES, "web", "d")["status"] == {"loadBalancer": {}}
