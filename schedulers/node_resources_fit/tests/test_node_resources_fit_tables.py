"""What fits on a node, case by case.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/noderesources/fit_test.go``. Amounts are written as
there: milli-cpus and bytes. A node has 10m, 20 bytes, 32 pods, 5 pieces, 20 bytes of disk and 5 of huge pages.
"""

import pytest
from hyperkube_scheduler.node_resources_fit import NodeResourcesFit
from hyperkube_testing.scheduling.tables import pod_info, table, verdicts

from hyperkube.hookspecs.base import PluginContext
from hyperkube.hookspecs.scheduling import Filtered

A, B = "example.com/aaa", "example.com/bbb"
OURS, OURS_TOO = "kubernetes.io/something", "subdomain.kubernetes.io/something"
CLAIMED = "extended.resource.dra.io/something"
HUGE, DISK = "hugepages-2Mi", "ephemeral-storage"
CPU, MEMORY, PODS = "Insufficient cpu", "Insufficient memory", "Too many pods"
SIZE = {"cpu": "10m", "memory": "20", "pods": "32", A: "5", DISK: "20", HUGE: "5"}
ONE_POD = {"cpu": "10m", "memory": "20", "pods": "1", A: "0", DISK: "0", HUGE: "0"}


def amounts(cpu=0, memory=0, more=None):
    return {"cpu": f"{cpu}m", "memory": str(memory), **{name: str(value) for name, value in (more or {}).items()}}


def pod(*containers, init=(), overhead=None, whole=None, on=""):
    """Return a pod of containers with these requests, each as for `amounts`."""

    def rows(given):
        return [{"name": f"c{index}", "resources": {"requests": amounts(*each)}} for index, each in enumerate(given)]

    spec = {"containers": rows(containers) or [{"name": "c"}], "initContainers": rows(init), "nodeName": on}
    if overhead:
        spec["overhead"] = amounts(*overhead)
    if whole:
        spec["resources"] = {"requests": amounts(*whole)}
    return {"metadata": {"name": "placed" if on else "new", "namespace": "default"}, "spec": spec}


def verdict(new, used=(), size=SIZE, **settings):
    nodes = table({"name": "node", **size})
    if used is not None:
        nodes.put_pod(pod(used, on="node"), "node")
    plugin = NodeResourcesFit(PluginContext(name="NodeResourcesFit", settings=settings))
    return verdicts(plugin, pod_info(new, nodes), nodes)[0]


def less(resource):
    return f"! Insufficient {resource}"


ONE = (1, 1)


def some(amount, resource=A):
    return (1, 1, {resource: amount})


@pytest.mark.parametrize(
    ("new", "used", "expected"),
    [
        pytest.param(pod(), (10, 20), "", id="nothing is requested"),
        pytest.param(pod(ONE), (10, 20), f"{CPU}, {MEMORY}", id="too much of both"),
        pytest.param(pod(ONE, init=[(3, 1)]), (8, 19), CPU, id="too much cpu at the start"),
        pytest.param(pod(ONE, init=[(3, 1), (2, 1)]), (8, 19), CPU, id="the most at the start counts: cpu"),
        pytest.param(pod(ONE, init=[(1, 3)]), (9, 19), MEMORY, id="too much memory at the start"),
        pytest.param(pod(ONE, init=[(1, 3), (1, 2)]), (9, 19), MEMORY, id="the most at the start counts: memory"),
        pytest.param(pod(ONE, init=[ONE]), (9, 19), "", id="start and run are not added"),
        pytest.param(pod(ONE, init=[ONE, ONE]), (9, 19), "", id="nor are the steps of the start"),
        pytest.param(pod(ONE), (5, 5), "", id="both fit"),
        pytest.param(pod((2, 1)), (9, 5), CPU, id="memory fits"),
        pytest.param(pod((1, 2)), (5, 19), MEMORY, id="cpu fits"),
        pytest.param(pod((5, 1)), (5, 19), "", id="just fits"),
        pytest.param(pod((4, 1), init=[(5, 1)]), (5, 19), "", id="just fits at the start"),
        pytest.param(pod((0, 0, {A: 1})), (), "", id="pieces fit"),
        pytest.param(pod((), init=[(0, 0, {A: 1})]), (), "", id="pieces fit at the start"),
        pytest.param(pod(some(10)), (0, 0, {A: 0}), less(A), id="more pieces than there are"),
        pytest.param(pod((), init=[some(10)]), (0, 0, {A: 0}), less(A), id="more pieces than there are, at the start"),
        pytest.param(pod(some(1)), (0, 0, {A: 5}), less(A)[2:], id="pieces are taken"),
        pytest.param(pod((), init=[some(1)]), (0, 0, {A: 5}), less(A)[2:], id="pieces are taken, at the start"),
        pytest.param(pod(some(3), some(3)), (0, 0, {A: 2}), less(A), id="pieces of two containers"),
        pytest.param(pod((), init=[some(3), some(3)]), (0, 0, {A: 2}), "", id="pieces of two steps of the start"),
        pytest.param(pod((), init=[some(6), some(3)]), (0, 0, {A: 2}), less(A), id="too many pieces in one step"),
        pytest.param(pod(some(1, B)), (), less(B), id="pieces that no node has"),
        pytest.param(pod((), init=[some(1, B)]), (), less(B), id="pieces that no node has, at the start"),
        pytest.param(pod(some(10, OURS)), (), less(OURS), id="pieces of kubernetes.io"),
        pytest.param(pod((), init=[some(10, OURS_TOO)]), (), less(OURS_TOO), id="of kubernetes.io, at the start"),
        pytest.param(pod(some(10, HUGE)), (0, 0, {HUGE: 0}), less(HUGE), id="huge pages"),
        pytest.param(pod((), init=[some(10, HUGE)]), (0, 0, {HUGE: 0}), less(HUGE), id="huge pages, at the start"),
        pytest.param(pod(some(3, HUGE), some(3, HUGE)), (0, 0, {HUGE: 2}), less(HUGE), id="huge pages of two"),
        pytest.param(pod(ONE, overhead=(3, 13)), (5, 5), "", id="overhead fits"),
        pytest.param(pod(ONE, overhead=(1, 15)), (5, 5), MEMORY, id="overhead does not"),
        pytest.param(pod(some(0)), (0, 0, {A: 6}), "", id="none requested where too many are taken"),
        pytest.param(pod((0, 0, {A: 1})), (20, 30, {A: 1}), "", id="nor cpu and memory"),
        pytest.param(pod((0, 0, {A: 1})), (), "", id="a device plugin's pieces"),
        pytest.param(pod(some(1, B)), (), less(B), id="pieces that no device class has either"),
        pytest.param(pod(some(1, CLAIMED)), (), less(CLAIMED), id="pieces that only a device class has"),
    ],
)
def test_requests_and_what_is_free(new, used, expected):
    assert verdict(new, used) == expected


@pytest.mark.parametrize(
    ("new", "used", "expected"),
    [
        pytest.param(pod(ONE, whole=(1, 2)), (5, 5), "", id="it fits"),
        pytest.param(pod(ONE, whole=(7, 2)), (5, 5), CPU, id="too much cpu"),
        pytest.param(pod(ONE, whole=(3, 2)), (5, 19), MEMORY, id="too much memory"),
        pytest.param(pod(whole=(3, 2, {HUGE: 5})), None, "", id="huge pages fit"),
        pytest.param(pod(some(3, HUGE), whole=(3, 2, {HUGE: 5})), None, "", id="and the containers' do"),
        pytest.param(pod(whole=(3, 2, {HUGE: 10})), None, less(HUGE), id="too many huge pages"),
        pytest.param(pod(ONE, whole=(3, 2), init=[ONE]), (5, 19), MEMORY, id="it counts, not what containers request"),
    ],
)
def test_requests_of_the_pod_as_a_whole(new, used, expected):
    assert verdict(new, used) == expected


@pytest.mark.parametrize(
    ("new", "settings", "expected"),
    [
        pytest.param(pod(some(1, B)), {"ignoredResources": [B]}, "", id="a resource"),
        pytest.param(
            pod((1, 1, {B: 1, OURS: 1})), {"ignoredResourceGroups": ["example.com"]}, less(OURS), id="a domain"
        ),
        pytest.param(pod(some(1, OURS)), {"ignoredResources": [OURS]}, less(OURS), id="not one of kubernetes' own"),
        pytest.param(pod((11, 1)), {"ignoredResources": ["cpu"]}, less("cpu"), id="nor cpu"),
    ],
)
def test_what_the_settings_ignore(new, settings, expected):
    assert verdict(new, **settings) == expected


@pytest.mark.parametrize(
    ("new", "used"),
    [
        pytest.param(pod(), (10, 20), id="nothing is requested"),
        pytest.param(pod(ONE), (5, 5), id="cpu and memory fit"),
        pytest.param(pod((5, 1)), (5, 19), id="they just fit"),
        pytest.param(pod((5, 1), init=[(5, 1)]), (5, 19), id="they just fit at the start"),
    ],
)
def test_no_room_for_one_pod_more(new, used):
    assert verdict(new, used, ONE_POD) == PODS


def test_room_for_no_pod_at_all_is_a_reason_that_eviction_could_mend():
    assert verdict(pod(), None, {**SIZE, "pods": "0"}) == PODS


@pytest.mark.parametrize(
    ("new", "used", "expected"),
    [
        pytest.param(pod(ONE), (2, 10), "", id="none requested"),
        pytest.param(pod((0, 0, {DISK: 25})), (2, 2), less(DISK), id="more than there is"),
        pytest.param(pod((0, 0, {DISK: 5})), (2, 2, {DISK: 10}), "", id="enough is free"),
        pytest.param(pod((0, 0, {DISK: 10})), (2, 2), "", id="it fits"),
    ],
)
def test_disk(new, used, expected):
    assert verdict(new, used) == expected


def with_sidecar(request=None, sidecar=None):
    def container(name, cpu, **more):
        return {"name": name, "resources": {"requests": {"cpu": cpu}} if cpu else {}, **more}

    beside = container("beside", sidecar, restartPolicy="Always")
    return {"spec": {"containers": [container("c", request)], "initContainers": [beside]}}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(pod(), "", id="none"),
        pytest.param(with_sidecar(), "", id="no requests"),
        pytest.param(with_sidecar("1m", "1m"), "", id="both fit"),
        pytest.param(with_sidecar("1m", "2m"), less("cpu"), id="their sum does not"),
    ],
)
def test_sidecars_are_added(new, expected):
    assert verdict(new, None, {"cpu": "2m", "memory": "0", "pods": "1"}) == expected


@pytest.mark.parametrize(
    ("wanted", "size", "whole", "fits"),
    [
        pytest.param({"cpu": "2"}, {"cpu": "1"}, False, False, id="too little"),
        pytest.param({"cpu": "1"}, {"cpu": "2"}, False, True, id="enough"),
        pytest.param({"cpu": "2"}, {"cpu": "1"}, True, False, id="too little for the pod as a whole"),
        pytest.param({"cpu": "2"}, {"cpu": "2"}, True, True, id="enough for the pod as a whole"),
        pytest.param({HUGE: "2Mi"}, {HUGE: "2Mi"}, True, True, id="enough huge pages"),
        pytest.param({HUGE: "4Mi"}, {HUGE: "2Mi"}, True, False, id="too few huge pages"),
    ],
)
def test_an_empty_node(wanted, size, whole, fits):
    containers = [{"name": "c", "resources": {} if whole else {"requests": wanted}}]
    new = {"spec": {"containers": containers, **({"resources": {"requests": wanted}} if whole else {})}}

    assert (verdict(new, None, size) == "") is fits


def test_it_is_asked_again_when_a_node_changed_or_room_was_left():
    """Upstream registers Node add and allocatable, Pod delete and scale-down (``pod gone`` here), DeviceClass add, update."""
    assert NodeResourcesFit.events_to_register == {"node", "pod gone", "deviceclasses"}


def test_a_node_that_keeps_the_pod_is_never_called_hopeless():
    nodes = table({"name": "small", **SIZE}, {"name": "large"})
    found: Filtered = NodeResourcesFit(None).filter(pod_info(pod((11, 1)), nodes), nodes)

    assert found.mask.tolist() == [False, True]
    assert found.unresolvable.tolist() == [True, False]
