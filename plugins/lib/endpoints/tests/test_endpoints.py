"""Which pods stand behind a service, ports by name, and names below headless services."""

import pytest
from hyperkube_lib.endpoints import (
    EndpointPod,
    EndpointPods,
    SyncSpacing,
    TriggerTimeTracker,
    addresses_of,
    has_address,
    hostname_of,
    port_number,
    watch_services,
    what_counts,
    with_trigger_time,
)

from hyperkube.client.fake import FakeClient
from hyperkube.client.informer import InformerFactory
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.kinds.resources import PODS, SERVICES

POD = {
    "metadata": {"name": "p", "labels": {"a": "b"}},
    "spec": {
        "hostname": "p-0",
        "subdomain": "db",
        "containers": [{"ports": [{"name": "dns", "containerPort": 53, "protocol": "UDP"}]}],
        "initContainers": [
            {"restartPolicy": "Always", "ports": [{"name": "proxy", "containerPort": 15000}]},
            {"ports": [{"name": "setup", "containerPort": 1}]},
        ],
    },
    "status": {"podIP": "10.0.0.1"},
}


def test_a_named_port_needs_the_same_protocol():
    assert port_number(EndpointPod(POD), {"targetPort": "dns", "protocol": "UDP"}) == 53
    assert port_number(EndpointPod(POD), {"targetPort": "dns"}) is None


def test_a_sidecars_port_counts_and_an_init_containers_does_not():
    assert port_number(EndpointPod(POD), {"targetPort": "proxy"}) == 15000
    assert port_number(EndpointPod(POD), {"targetPort": "setup"}) is None


def test_without_a_target_the_port_itself_is_meant():
    assert port_number(EndpointPod(POD), {"port": 80}) == 80


def test_a_pod_has_a_name_below_the_service_of_its_subdomain():
    assert hostname_of(EndpointPod(POD), {"metadata": {"name": "db"}}) == "p-0"
    assert hostname_of(EndpointPod(POD), {"metadata": {"name": "other"}}) == ""


@pytest.mark.parametrize(
    ("ips", "ipv6", "written"),
    [
        (["10.0.0.1", "fd00:0::1", "10.0.0.2"], False, ["10.0.0.1", "10.0.0.2"]),
        (["10.0.0.1", "fd00:0::1"], True, ["fd00::1"]),
        (["010.0.0.001", "::ffff:10.0.0.9", "none", ""], False, ["10.0.0.1", "10.0.0.9"]),
    ],
)
def test_addresses_are_written_as_go_writes_them(ips, ipv6, written):
    pod = EndpointPod({"status": {"podIPs": [{"ip": ip} for ip in ips]}})

    assert addresses_of(pod, ipv6=ipv6) == written


@pytest.mark.parametrize(
    ("status", "listed"),
    [({"podIP": "10.0.0.1"}, True), ({"podIPs": [{"ip": "10.0.0.1"}]}, True), ({}, False)],
)
def test_a_pod_without_an_address_is_not_listed(status, listed):
    assert has_address(EndpointPod({"status": status}), {"spec": {}}, terminating=False) is listed


def test_only_some_changes_matter():
    annotated = {**POD, "metadata": {**POD["metadata"], "annotations": {"x": "y"}}}

    assert what_counts(annotated) == what_counts(POD)
    assert what_counts({**POD, "status": {"podIP": "10.0.0.2"}}) != what_counts(POD)
    assert what_counts({**POD, "spec": {**POD["spec"], "hostname": "other"}}) != what_counts(POD)


T0, T1, T2, T3 = (f"2030-01-01T00:00:0{second}Z" for second in range(4))


def service(created=T0):
    return {"metadata": {"name": "web", "creationTimestamp": created}}


def pod(name, since):
    conditions = [{"type": "Ready", "status": "True", "lastTransitionTime": since}]
    return EndpointPod({"metadata": {"name": name}, "status": {"conditions": conditions}})


@pytest.mark.parametrize(
    ("syncs", "expected"),
    [
        ([(T0, {})], [T0]),
        ([(T0, {"a": T1})], [T0]),
        ([(T0, {"a": T1}), (T0, {"a": T2})], [T0, T2]),
        ([(T0, {"a": T1}), (T0, {"a": T1})], [T0, ""]),
        ([(T0, {}), (T0, {"a": T2, "b": T1})], [T0, T1]),
        ([(T0, {"a": T1}), (T2, {"a": T3})], [T0, T2]),
        ([(T0, {"a": T2}), (T0, {})], [T0, ""]),
    ],
    ids=[
        "new-service",
        "new-service-with-pod",
        "pod-changed",
        "nothing-changed",
        "oldest-wins",
        "recreated",
        "pod-gone",
    ],
)
def test_the_oldest_change_since_the_last_sync_is_the_trigger(syncs, expected):
    tracker = TriggerTimeTracker()

    times = [
        tracker.compute("d/web", service(created), [pod(name, since) for name, since in pods.items()])
        for created, pods in syncs
    ]

    assert times == expected


def test_a_forgotten_service_is_new():
    tracker = TriggerTimeTracker()
    tracker.compute("d/web", service(), [])

    tracker.forget("d/web")

    assert tracker.compute("d/web", service(T1), []) == T1


def test_without_a_new_trigger_time_the_annotation_goes():
    annotated = with_trigger_time(service(), T1)

    assert annotated["metadata"]["annotations"] == {"endpoints.kubernetes.io/last-change-trigger-time": T1}
    assert "annotations" not in with_trigger_time(annotated, "")["metadata"]


def in_shop(name, labels, **status):
    running = {"phase": "Running", "podIP": "10.0.0.1"}
    return {"metadata": {"name": name, "namespace": "shop", "labels": labels}, "status": running | status}


def selecting(name, selector, namespace="shop"):
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"selector": selector}}


class Watched:
    """Services and pods in informers that are refreshed by hand, and the loop that hears of them."""

    def __init__(self, *objects):
        self.client = FakeClient()
        informers = InformerFactory(self.client)
        self.services, self.pods = informers.informer(SERVICES), EndpointPods(informers.informer(PODS))
        self.looked_at = []
        self.loop = ReconcileLoop("endpoint", self.looked_at.append, clock=self.client.clock)
        self.spacing = SyncSpacing(self.client.clock)
        watch_services(self.loop, self.services, self.pods, self.spacing)
        for service in objects:
            self.client.create(SERVICES, service, service["metadata"]["namespace"])
        self.refresh()

    def refresh(self):
        self.services.refresh()
        self.pods.informer.refresh()
        self.looked_at.clear()
        self.loop.drain()
        return sorted(self.looked_at)


def test_a_pod_brings_the_services_all_of_whose_labels_it_has():
    watched = Watched(
        selecting("web", {"app": "web"}),
        selecting("canary", {"app": "web", "track": "canary"}),
        selecting("other", {"app": "other"}),
        selecting("by-hand", {}),
        selecting("web", {"app": "web"}, namespace="elsewhere"),
    )

    watched.client.seed(PODS, in_shop("p", {"app": "web", "track": "stable"}))

    assert watched.refresh() == ["shop/web"]
    assert [pod.name for pod in watched.pods.of(selecting("web", {"app": "web"}))] == ["p"]
    assert watched.pods.of(selecting("canary", {"app": "web", "track": "canary"})) == []
    assert watched.pods.of(selecting("by-hand", {})) == []


def test_a_pod_that_is_labelled_anew_brings_the_service_it_leaves_and_the_one_it_joins():
    watched = Watched(*(selecting(name, {"app": name}) for name in ("web", "db", "other")))
    (created,) = watched.client.seed(PODS, in_shop("p", {"app": "web"}))
    watched.refresh()

    watched.client.update(PODS, {**created, "metadata": {**created["metadata"], "labels": {"app": "db"}}}, "shop")

    assert watched.refresh() == ["shop/db", "shop/web"]
    assert watched.pods.of(selecting("web", {"app": "web"})) == []


@pytest.mark.parametrize(
    ("before", "after", "services"),
    [
        ({"podIP": ""}, {"podIP": "", "phase": "Failed"}, []),
        ({"podIP": "", "phase": "Pending"}, {"podIP": "10.0.0.1", "phase": "Running"}, ["shop/web"]),
        ({}, {"phase": "Succeeded"}, ["shop/web"]),
        ({"phase": "Succeeded"}, {"phase": "Succeeded", "podIP": ""}, []),
    ],
    ids=["without-an-address", "starts", "ends", "has-ended"],
)
def test_a_pod_wakes_its_service_while_it_may_be_listed(before, after, services):
    watched = Watched(selecting("web", {"app": "web"}))
    (created,) = watched.client.seed(PODS, in_shop("p", {"app": "web"}, **before))
    watched.refresh()

    watched.client.update(PODS, {**created, "status": created["status"] | after}, "shop", subresource="status")

    assert watched.refresh() == services


def test_changes_of_a_large_service_wait_for_one_another_and_those_of_a_small_one_do_not():
    watched = Watched(selecting("large", {"app": "large"}), selecting("small", {"app": "small"}))
    for name, pods in (("large", 17), ("small", 16)):
        watched.spacing.synced(f"shop/{name}", pods)
        watched.client.seed(PODS, in_shop(name, {"app": name}))

    assert watched.refresh() == ["shop/small"]
    watched.client.clock.advance(0.4)
    assert watched.refresh() == []
    watched.client.clock.advance(0.1)
    assert watched.refresh() == ["shop/large"]


def test_the_first_change_after_a_rest_is_answered_at_once():
    watched = Watched(selecting("large", {"app": "large"}))
    watched.spacing.synced("shop/large", 17)
    watched.client.clock.advance(0.5)

    watched.client.seed(PODS, in_shop("p", {"app": "large"}))

    assert watched.refresh() == ["shop/large"]


def test_a_service_that_selects_anew_is_found_by_its_new_labels():
    watched = Watched(selecting("web", {"app": "old"}))
    service = watched.client.get(SERVICES, "web", "shop")
    watched.client.update(SERVICES, {**service, "spec": {"selector": {"app": "new"}}}, "shop")
    watched.refresh()

    watched.client.seed(PODS, in_shop("p", {"app": "new"}))
    watched.client.seed(PODS, in_shop("q", {"app": "old"}))

    assert watched.refresh() == ["shop/web"]
    assert [pod.name for pod in watched.pods.of(selecting("web", {"app": "new"}))] == ["p"]
