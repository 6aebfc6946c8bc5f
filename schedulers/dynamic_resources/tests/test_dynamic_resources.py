"""Devices for claims: who gets which, why not, and what is written."""

import pytest
from hyperkube_scheduler.dynamic_resources import DynamicResources
from hyperkube_scheduler.dynamic_resources.allocator import Allocator, result
from hyperkube_scheduler.dynamic_resources.claims import CannotAllocate, NoClaim, claim_names, devices_of
from hyperkube_scheduler.dynamic_resources.pools import DeviceId, gather

from hyperkube.plugin import PluginContext
from hyperkube.testing.scheduling import pod_info, table

GPU = {
    "metadata": {"name": "gpu"},
    "spec": {
        "selectors": [{"cel": {"expression": "device.driver == 'd'"}}],
        "config": [{"opaque": {"driver": "d", "parameters": {"a": 1}}}],
    },
}
CLASSES = {"gpu": GPU, "any": {"metadata": {"name": "any"}, "spec": {}}}


def device(name, **spec):
    numa = spec.pop("numa", 0)
    return {"name": name, "attributes": {"numa": {"int": numa}}, **spec}


def rslice(node, *devices, pool="", generation=1, count=1, driver="d", name="", **spec):
    where = {"nodeName": node} if isinstance(node, str) else node
    body = {
        "driver": driver,
        "pool": {"name": pool or str(node), "generation": generation, "resourceSliceCount": count},
        **where,
        "devices": list(devices),
        **spec,
    }
    return {"metadata": {"name": name or f"{pool}{node}{generation}"}, "spec": body}


def exactly(name="r", device_class="gpu", **words):
    return {"name": name, "exactly": {"deviceClassName": device_class, **words}}


def claim(*requests, name="c", **devices):
    spec = {"devices": {"requests": list(requests), **devices}}
    return {"metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec}


def allocate(slices, *claims, node="a", taken=()):
    nodes = table({"name": "a", "labels": {"zone": "x"}}, {"name": "b"})
    allocator = Allocator(CLASSES.get, gather(slices, nodes), set(taken))
    found = allocator.allocate(list(nodes.names).index(node), claims, allocator.check(claims))
    return None if found is None else [[each.id.device for _, each in one.devices] for one in found]


TWO = rslice("a", device("one", numa=1), device("two", numa=2))


def test_devices_of_the_node_are_taken_in_order():
    assert allocate([TWO], claim(exactly())) == [["one"]]
    assert allocate([TWO], claim(exactly()), node="b") is None
    assert allocate([TWO], claim(exactly()), taken=[DeviceId("d", "a", "one")]) == [["two"]]


def test_claims_share_what_there_is():
    assert allocate([TWO], claim(exactly()), claim(exactly(), name="other")) == [["one"], ["two"]]
    assert allocate([TWO], claim(exactly(count=2)), claim(exactly(), name="other")) is None


def test_selectors_choose():
    picky = exactly(selectors=[{"cel": {"expression": "device.attributes['d'].numa > 1"}}])

    assert allocate([TWO], claim(picky)) == [["two"]]
    assert allocate([rslice("a", device("x"), driver="other")], claim(exactly())) is None


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("device.nothing", "claim default/c: selector #0: CEL compile error"),
        ("device.attributes['d'].nothing == 1", "claim default/c: selector #0: runtime error"),
    ],
)
def test_a_wrong_selector_stops_everything(expression, text):
    with pytest.raises(CannotAllocate, match="^" + text.replace("#", "\\#")):
        allocate([TWO], claim(exactly(selectors=[{"cel": {"expression": expression}}])))


def test_an_unknown_class_stops_everything():
    with pytest.raises(CannotAllocate, match="request r: device class none does not exist"):
        allocate([TWO], claim(exactly(device_class="none")))


def test_the_first_alternative_that_can_be_had_is_taken():
    alternatives = [
        {"name": "three", "deviceClassName": "gpu", "count": 3},
        {"name": "two", "deviceClassName": "gpu", "count": 2},
    ]
    wish = claim({"name": "r", "firstAvailable": alternatives})
    nodes = table({"name": "a"})
    allocator = Allocator(CLASSES.get, gather([TWO], nodes), set())
    (found,) = allocator.allocate(0, [wish], allocator.check([wish]))

    written = result(wish, found, "a")

    assert [row["request"] for row in written["devices"]["results"]] == ["r/two", "r/two"]
    assert found.score == 7
    assert written["devices"]["config"][0]["requests"] == ["r/two"]


def test_all_means_all_that_match_of_complete_pools():
    everything = claim(exactly(allocationMode="All"))

    assert allocate([TWO], everything) == [["one", "two"]]
    assert allocate([TWO], everything, taken=[DeviceId("d", "a", "one")]) is None
    assert allocate([rslice("a")], everything) is None
    with pytest.raises(CannotAllocate, match="asks for all devices, but resource pool d/p is currently being updated"):
        allocate([rslice("a", device("x"), pool="p", count=2)], everything)


def test_administrators_look_at_what_others_have():
    look = claim(exactly(adminAccess=True))

    assert allocate([TWO], look, taken=[DeviceId("d", "a", "one")]) == [["one"]]
    assert (
        devices_of({"devices": {"results": [{"driver": "d", "pool": "a", "device": "one", "adminAccess": True}]}}) == []
    )


def test_constraints_look_at_attributes():
    slices = [rslice("a", device("1", numa=1), device("2", numa=2), device("3", numa=2))]
    same = [{"matchAttribute": "d/numa"}]
    apart = [{"distinctAttribute": "d/numa", "requests": ["r"]}]

    assert allocate(slices, claim(exactly(count=2), constraints=same)) == [["2", "3"]]
    assert allocate(slices, claim(exactly(count=2), constraints=apart)) == [["1", "2"]]
    assert allocate(slices, claim(exactly(count=3), constraints=apart)) is None
    assert allocate(slices, claim(exactly(count=2), constraints=[{"matchAttribute": "d/unknown"}])) is None


def test_taints_keep_off_those_who_do_not_tolerate_them():
    taint = {"key": "broken", "effect": "NoSchedule"}
    slices = [rslice("a", device("one", taints=[taint]), device("two", taints=[{"key": "k", "effect": "None"}]))]
    tolerant = exactly(tolerations=[{"key": "broken", "operator": "Exists"}])

    assert allocate(slices, claim(exactly())) == [["two"]]
    assert allocate(slices, claim(tolerant)) == [["one"]]


def test_partitions_share_counters():
    part = [{"counterSet": "memory", "counters": {"gi": {"value": "4"}}}]
    shared = [{"name": "memory", "counters": {"gi": {"value": "8"}}}]
    devices = [device(name, consumesCounters=part) for name in ("one", "two", "three")]
    slices = [rslice("a", *devices, sharedCounters=shared)]

    assert allocate(slices, claim(exactly(count=2))) == [["one", "two"]]
    assert allocate(slices, claim(exactly(count=3))) is None
    assert allocate(slices, claim(exactly(count=2)), taken=[DeviceId("d", "a", "one")]) is None


def test_the_newest_generation_counts():
    old, new = rslice("a", device("old"), pool="p"), rslice("a", device("new"), pool="p", generation=2)

    assert allocate([old, new], claim(exactly())) == [["new"]]
    assert allocate([rslice("a", device("x"), device("x"))], claim(exactly())) is None


def test_devices_of_many_nodes_say_where_they_can_be_used():
    zone = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["x"]}]}]}
    nodes = table({"name": "a", "labels": {"zone": "x"}}, {"name": "b"})
    wish = claim(exactly())
    written = {}
    for where, slices in {
        "zone": [rslice({"nodeSelector": zone}, device("one"))],
        "all": [rslice({"allNodes": True}, device("one"))],
        "node": [TWO],
        "device": [rslice({"perDeviceNodeSelection": True}, device("one", nodeName="a"))],
    }.items():
        allocator = Allocator(CLASSES.get, gather(slices, nodes), set())
        (found,) = allocator.allocate(0, [wish], allocator.check([wish]))
        written[where] = result(wish, found, "a").get("nodeSelector")

    here = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}
    assert written == {"zone": zone, "all": None, "node": here, "device": here}


def test_too_many_devices_are_refused():
    with pytest.raises(CannotAllocate, match="number of requested devices 33 exceeds the claim limit of 32"):
        allocate([TWO], claim(exactly(count=33)))


def test_names_of_claims():
    rows = [{"name": "x", "resourceClaimName": "mine"}, {"name": "y", "resourceClaimTemplateName": "t"}]
    pod = {"metadata": {"name": "p", "namespace": "ns"}, "spec": {"resourceClaims": rows}}

    with pytest.raises(NoClaim, match='pod "ns/p": ResourceClaim not created yet'):
        claim_names(pod)
    pod["status"] = {"resourceClaimStatuses": [{"name": "y", "resourceClaimName": "p-y"}]}
    assert claim_names(pod) == [("mine", False), ("p-y", True)]


def test_pods_without_claims_are_none_of_its_business():
    plugin = DynamicResources(PluginContext(name="DynamicResources"))
    pod = pod_info({}, table())

    assert plugin.skips(pod)
    assert plugin.pre_enqueue(pod.pod) == ""
    assert not plugin.may_wait(pod)
