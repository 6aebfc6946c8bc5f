"""Extended resources that stand for device classes: the claim that a pod gets, who shares in it, and its end.

Source of the cases: kubernetes ``pkg/scheduler/framework/plugins/dynamicresources/extendeddynamicresources_test.go``
and ``dynamicresources_test.go``.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from device_builders import ask, claim, dev, device_class, rslice
from hyperkube_scheduler.dynamic_resources.extended import requests_and_mappings
from plugin_world import World, allocated, owned, pod

from hyperkube.kinds.resources import PODS, RESOURCE_CLAIMS
from hyperkube.machinery.errors import InternalError

GPU, NIC = "example.com/gpu", "example.com/nic"
IMPLICIT = "deviceclass.resource.kubernetes.io/a"
BACKED = [device_class("a", extendedResourceName=GPU)]
BOTH = [*BACKED, device_class("b", extendedResourceName=NIC)]
SLICES = [rslice(dev("1"), dev("2"))]
FULL = "! cannot allocate all claims"
TYPED = {"resource.kubernetes.io/extended-resource-claim": "true"}
CREATED = "container-0-request-0=a/p1/1 for pod, protected"


def node(**amounts):
    return ({"name": "n1", **amounts},)


def leftover(**meta):
    """Return a claim that an earlier attempt left behind."""
    return allocated(owned(claim(ask("container-0-request-0"), name="old"), annotations=TYPED, **meta))


PLACES = {
    "the node has it itself": ({GPU: "1"}, {"nodes": node(**{GPU: "1"})}, [""], []),
    "a device plugin has left none": ({GPU: "1"}, {"nodes": node(**{GPU: "0"})}, [""], [CREATED]),
    "two, in one request": (
        {GPU: "2"},
        {},
        [""],
        ["container-0-request-0=a/p1/1 container-0-request-0=a/p1/2 for pod, protected"],
    ),
    "more than there are": ({GPU: "3"}, {}, [FULL], []),
    "no devices": ({GPU: "1"}, {"slices": []}, [FULL], []),
    "one from the node, one from devices": (
        {GPU: "1", NIC: "1"},
        {"classes": BOTH, "nodes": node(**{NIC: "1"})},
        [""],
        [CREATED],
    ),
    "one that nothing backs beside one that is backed": (
        {GPU: "1", "example.com/none": "1"},
        {},
        ["! cannot fit resource"],
        [],
    ),
    "none that is backed": ({"example.com/none": "1"}, {}, [""], []),
    "no class": ({GPU: "1"}, {"classes": []}, [""], []),
    "the gate is off": ({GPU: "1"}, {"gates": {"DRAExtendedResource": False}}, [""], []),
    "nothing asked for": ({GPU: "0"}, {}, [""], []),
    "the class by its own name": ({IMPLICIT: "1"}, {"classes": [device_class("a")]}, [""], [CREATED]),
    "the class by both names": (
        {GPU: "1", IMPLICIT: "1"},
        {},
        [""],
        ["container-0-request-0=a/p1/1 container-0-request-1=a/p1/2 for pod, protected"],
    ),
}


@pytest.mark.parametrize(("asked", "words", "said", "stored"), PLACES.values(), ids=PLACES)
def test_where_a_pod_fits_and_what_it_gets(asked, words, said, stored):
    world, asked = World(**{"slices": SLICES, "classes": BACKED, **words}), pod(extended=asked)

    assert world.ask(asked) == said
    if said == [""]:
        assert world.bind(asked) == ""
    assert world.stored() == stored


def test_nodes_differ_in_what_they_have_themselves():
    nodes = ({"name": "n1", GPU: "1"}, {"name": "n2"}, {"name": "n3"})
    world = World(slices=[rslice(dev("1"), node="n3")], classes=BACKED, nodes=nodes)

    assert world.ask(pod(extended={GPU: "1"})) == ["", FULL, ""]


def test_the_claim_belongs_to_the_pod_and_the_pod_is_told():
    world = World(slices=SLICES, classes=BACKED)
    world.bind(pod(extended={GPU: "1"}))
    (stored,) = world.client.objects(RESOURCE_CLAIMS)
    status = world.client.get(PODS, "pod", "default")["status"]

    meta = stored["metadata"]
    assert meta["name"].startswith("pod-extended-resources-")
    assert meta["annotations"] == TYPED
    assert [{key: row[key] for key in ("kind", "name", "uid", "controller")} for row in meta["ownerReferences"]] == [
        {"kind": "Pod", "name": "pod", "uid": "uid", "controller": True}
    ]
    assert stored["spec"]["devices"]["requests"] == [
        {
            "name": "container-0-request-0",
            "exactly": {"deviceClassName": "a", "allocationMode": "ExactCount", "count": 1},
        }
    ]
    mapping = {"containerName": "c", "resourceName": GPU, "requestName": "container-0-request-0"}
    assert status["extendedResourceClaimStatus"] == {"resourceClaimName": meta["name"], "requestMappings": [mapping]}


def test_claims_and_extended_resources_together():
    world, asked = World([claim(ask())], SLICES, classes=BACKED), pod("c0", extended={GPU: "1"})

    assert world.bind(asked) == ""
    assert world.stored() == ["r0=a/p1/1 for pod, protected", "container-0-request-0=a/p1/2 for pod, protected"]


def test_a_claim_that_was_left_behind_goes_first():
    world, asked = World([leftover()], SLICES, classes=BACKED), pod(extended={GPU: "1"})

    assert world.ask(asked) == ["! cannot schedule extended resource claim"]
    assert world.give_up(asked) == "deletion of ResourceClaim completed"
    assert world.stored() == []
    world.knows(lambda: world.plugin._claims.special_of(asked.pod) is None)
    assert world.ask(asked) == [""]


def test_what_is_not_stored_is_not_deleted():
    world, asked = World(classes=BACKED), pod(extended={GPU: "1"})
    world.ask(asked)

    assert world.give_up(asked) == "still not schedulable"


def test_a_pod_without_claims_has_nothing_to_give_back():
    world, asked = World(), pod()
    world.ask(asked)

    assert world.give_up(asked) == "no new claims to deallocate"


FAILURES = {
    "the claim cannot be created": (
        ("create", "resourceclaims"),
        "create claim for extended resources default/<extended-resources>: no",
    ),
    "the allocation cannot be written": (("update", "resourceclaims"), "add finalizer to claim default/{}: no"),
    "the pod cannot be told": (("patch", "pods"), "update pod default/pod ExtendedResourceClaimStatus: no"),
}


@pytest.mark.parametrize(("call", "why"), FAILURES.values(), ids=FAILURES)
def test_nothing_stays_behind_when_a_write_fails(call, why):
    world, asked = World(slices=SLICES, classes=BACKED), pod(extended={GPU: "2"})
    world.client.fail_next(*call, InternalError("no"))

    said = world.bind(asked)
    name = next((path.partition("/")[2] for verb, _, path in world.client.actions if verb == "delete"), "")

    assert said == why.format(name)
    assert world.stored() == []
    world.knows(lambda: not world.plugin._claims.usage.devices)
    assert world.ask(pod(extended={GPU: "2"})) == [""]


def test_the_claim_goes_when_binding_fails():
    world, asked = World(slices=SLICES, classes=BACKED), pod(extended={GPU: "1"})
    world.bind(asked)
    world.plugin.unreserve(asked, "n1")

    assert world.stored() == []


def test_nothing_was_stored_when_another_plugin_refuses_the_node():
    world, asked = World(slices=SLICES, classes=BACKED), pod(extended={GPU: "2"})
    world.ask(asked)
    world.plugin.reserve(asked, "n1")
    held = world.ask(pod(extended={GPU: "1"}))
    world.plugin.unreserve(asked, "n1")

    assert (held, world.ask(pod(extended={GPU: "1"})), world.stored()) == ([FULL], [""], [])


def box(amount=0, name="", /, *, sidecar=False, resource=GPU, **more):
    requests = {"cpu": "1", **({resource: str(amount)} if amount else {}), **more}
    return {"name": name, "resources": {"requests": requests}, **({"restartPolicy": "Always"} if sidecar else {})}


def told(init, containers, classes=None):
    """Return the requests by count, and for each container whose devices it uses."""
    rows = [
        [{**each, "name": f"{kind}{n}"} for n, each in enumerate(some)]
        for kind, some in zip("ic", (init, containers), strict=True)
    ]
    asked = {"metadata": {"name": "p", "namespace": "d", "uid": "u"}}
    asked["spec"] = {"initContainers": rows[0], "containers": rows[1]}
    requests, mappings = requests_and_mappings(asked, classes or {GPU: "a"})
    uses = {}
    for row in mappings:
        uses.setdefault(row["containerName"], set()).add(
            row["requestName"].replace("container-", "").replace("-request-", ".")
        )
    counts = {
        row["name"].replace("container-", "").replace("-request-", "."): row["exactly"]["count"] for row in requests
    }
    return counts, {name: " ".join(sorted(each)) for name, each in uses.items()}


SHARES = {
    "one container": ([], [box(1)], {"0.1": 1}, {"c0": "0.1"}),
    "none asks": ([], [box()], {}, {}),
    "two containers": ([], [box(1), box(2)], {"0.1": 1, "1.1": 2}, {"c0": "0.1", "c1": "1.1"}),
    "before the same number": ([box(1)], [box(1)], {"1.1": 1}, {"i0": "1.1", "c0": "1.1"}),
    "before fewer": ([box(3)], [box(1)], {"0.1": 2, "1.1": 1}, {"i0": "0.1 1.1", "c0": "1.1"}),
    "before more": ([box(1)], [box(2)], {"1.1": 2}, {"i0": "1.1", "c0": "1.1"}),
    "alone before none": ([box(2)], [box()], {"0.1": 2}, {"i0": "0.1"}),
    "two before fewer share what is missing": (
        [box(2), box(4)],
        [box(1)],
        {"1.1": 3, "2.1": 1},
        {"i0": "1.1 2.1", "i1": "1.1 2.1", "c0": "2.1"},
    ),
    "two before fewer, the first takes most": (
        [box(4), box(2)],
        [box(1)],
        {"0.1": 3, "2.1": 1},
        {"i0": "0.1 2.1", "i1": "0.1 2.1", "c0": "2.1"},
    ),
    "before two that run together": (
        [box(3)],
        [box(1), box(2)],
        {"1.1": 1, "2.1": 2},
        {"i0": "1.1 2.1", "c0": "1.1", "c1": "2.1"},
    ),
    "a sidecar keeps its own": (
        [box(1, sidecar=True)],
        [box(1)],
        {"0.1": 1, "1.1": 1},
        {"i0": "0.1", "c0": "1.1"},
    ),
    "before a sidecar": (
        [box(2), box(1, sidecar=True)],
        [box(1)],
        {"1.1": 1, "2.1": 1},
        {"i0": "1.1 2.1", "i1": "1.1", "c0": "2.1"},
    ),
    "after a sidecar, which keeps running": (
        [box(1, sidecar=True), box(2)],
        [box(1)],
        {"0.1": 1, "1.1": 1, "2.1": 1},
        {"i0": "0.1", "i1": "1.1 2.1", "c0": "2.1"},
    ),
}


@pytest.mark.parametrize(("init", "containers", "counts", "uses"), SHARES.values(), ids=SHARES)
def test_containers_that_never_run_together_share(init, containers, counts, uses):
    assert told(init, containers) == (counts, uses)


def test_two_resources_get_two_requests():
    counts, uses = told([], [box(1, **{NIC: "2"})], {GPU: "a", NIC: "b"})

    assert (counts, uses) == ({"0.1": 1, "0.2": 2}, {"c0": "0.1 0.2"})
