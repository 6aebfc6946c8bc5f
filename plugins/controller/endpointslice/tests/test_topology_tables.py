"""Topology aware hints' tables: which zone each endpoint is for, and between which zones endpoints move.

Source of the cases: kubernetes ``staging/src/k8s.io/endpointslice/topologycache`` (topologycache_test.go, utils_test.go,
sliceinfo_test.go).
"""

import pytest
from hyperkube_controller.endpointslice.reconciler import SlicePlan
from hyperkube_controller.endpointslice.topologycache import (
    ENABLED,
    INSUFFICIENT_ENDPOINTS,
    INSUFFICIENT_NODE_INFO,
    Allocation,
    TopologyCache,
    cpu_ratios,
    giving_and_receiving_zones,
    hints_enabled,
)

MODE, DEPRECATED = "service.kubernetes.io/topology-mode", "service.kubernetes.io/topology-aware-hints"
SERVICE = {"kind": "Service", "metadata": {"name": "svc", "namespace": "ns"}}


def endpoint(zone, *, ready=True, hint=None):
    entry = {"addresses": ["10.1.2.3"], "zone": f"zone-{zone}", "conditions": {} if ready is None else {"ready": ready}}
    return entry | ({"hints": {"forZones": [{"name": f"zone-{hint}"}]}} if hint else {})


def slice_of(zones):
    return {"endpoints": [endpoint(zone) for zone in zones]}


def node(zone, cpu, *, ready="True", labels=None):
    status = {"conditions": [{"type": "Ready", "status": ready}], "allocatable": {"cpu": cpu}}
    labels = {"topology.kubernetes.io/zone": f"zone-{zone}"} | (labels or {})
    return {"metadata": {"name": "n", "labels": labels}, "status": status}


def hinted(plan):
    """Return the zones of hints as one letter an endpoint, a dash for none, a word for each slice."""
    return [
        "".join(each["hints"]["forZones"][0]["name"][-1] if each.get("hints") else "-" for each in slice_["endpoints"])
        for slice_ in [*plan.create, *plan.update, *plan.unchanged]
    ]


def add_hints(plan, cpus):
    """Give the plan hints in a cluster with so many millicores of CPU in each zone; return reasons and texts."""
    cache = TopologyCache()
    cache.set_nodes([node(zone, f"{cpu}m") for zone, cpu in cpus.items()])
    events = cache.add_hints("ns/svc", SERVICE, plan)
    return [(event.reason, event.message) for event in events]


@pytest.mark.parametrize(
    ("cpus", "create", "hints", "reason", "text"),
    [
        ({}, [], [], "Disabled", INSUFFICIENT_NODE_INFO),
        ({}, ["a"], ["-"], "Disabled", INSUFFICIENT_NODE_INFO),
        ({"a": 300, "b": 400, "c": 300}, ["ab"], ["--"], "Disabled", INSUFFICIENT_ENDPOINTS),
        ({"a": 450, "b": 550}, ["ab"], ["ab"], "Enabled", ENABLED),
    ],
    ids=["empty", "no-ratios", "too-few-endpoints", "enough"],
)
def test_new_slices_get_hints_or_an_event_says_why_not(cpus, create, hints, reason, text):
    plan = SlicePlan("IPv4", create=[slice_of(zones) for zones in create])

    ((event, message),) = add_hints(plan, cpus)

    assert hinted(plan) == hints
    assert event == f"TopologyAwareHints{reason}"
    assert message.startswith(text)
    assert message.endswith(", addressType: IPv4")


def test_endpoints_that_are_not_ready_get_no_hints():
    unready = [endpoint("b", ready=False), endpoint("b", ready=None)]
    plan = SlicePlan("IPv4", create=[{"endpoints": [endpoint("a"), endpoint("b"), *unready]}])

    add_hints(plan, {"a": 450, "b": 550})

    assert hinted(plan) == ["ab--"]


def test_one_endpoint_moves_to_keep_three_zones_within_the_threshold():
    plan = SlicePlan("IPv4", create=[slice_of("ab"), slice_of("cca")], update=[slice_of("aa"), slice_of("bca")])

    add_hints(plan, {"a": 350, "b": 350, "c": 300})

    assert hinted(plan) == ["bb", "cca", "aa", "bca"]


@pytest.mark.parametrize(
    ("zones", "hints", "crossing"),
    [("ccc", {"a": 1, "b": 1, "c": 1}, 2), ("aacc", {}, 0), ("aabbbaacc", {"a": 3, "b": 3, "c": 3}, 1)],
    ids=["spread", "beyond-the-threshold", "more-endpoints"],
)
def test_unchanged_slices_are_written_again_for_their_hints(zones, hints, crossing):
    plan = SlicePlan("IPv4", unchanged=[slice_of(zones)])

    add_hints(plan, {"a": 1000, "b": 1000, "c": 1000})

    (got,) = hinted(plan)
    assert {zone: got.count(zone) for zone in "abc" if zone in got} == hints
    assert sum(hint not in {"-", zone} for hint, zone in zip(got, zones, strict=True)) == crossing
    assert bool(plan.update) is bool(hints)


@pytest.mark.parametrize(
    ("entries", "stays"),
    [
        ([endpoint("a", hint="a"), endpoint("b", hint="b")], True),
        ([endpoint("a", hint="a"), endpoint("b", hint="b"), endpoint("a", ready=False, hint="a")], True),
        ([endpoint("a", hint="a"), endpoint("b", hint="b"), endpoint("a", ready=None, hint="a")], True),
        ([endpoint("a", hint="b"), endpoint("b", hint="a")], True),
        ([endpoint("a", hint="non-existent"), endpoint("b", hint="b")], False),
        ([endpoint("a"), endpoint("b", hint="b")], False),
        ([endpoint("a") | {"hints": {"forZones": []}}, endpoint("b", hint="b")], False),
        ([endpoint("a", hint="a"), endpoint("b", hint="a")], False),
    ],
    ids=["right", "unready", "unknown", "crossed", "no-such-zone", "none", "empty", "too-many-for-one-zone"],
)
def test_hints_that_do_are_left_as_they_are(entries, stays):
    plan = SlicePlan("IPv4", unchanged=[{"endpoints": entries}])

    add_hints(plan, {"a": 1000, "b": 1000})

    assert bool(plan.unchanged) is stays


@pytest.mark.parametrize(
    ("desired", "has", "giving", "receiving"),
    [
        ({}, {}, {}, {}),
        ({"a": 1.2, "b": 1.1, "c": 1.0}, {"a": 1, "b": 1, "c": 1}, {}, {}),
        ({"a": 5.1, "b": 5.1, "c": 5.8}, {"a": 16}, {"a": 10}, {"b": 5, "c": 5}),
        ({"a": 5.0, "b": 5.6, "c": 5.4}, {"a": 16}, {"a": 11}, {"b": 6, "c": 5}),
        ({"a": 5.0, "b": 5.6, "c": 5.4}, {"b": 8, "c": 8}, {"b": 2, "c": 3}, {"a": 5}),
        ({"a": 5.0, "b": 5.0, "c": 5.0}, {"a": 6, "b": 6, "c": 6}, {}, {}),
        ({"a": -5.0, "b": -5.0, "c": -5.0}, {"a": 6, "b": 6, "c": 6}, {}, {}),
        ({"a": 5.0, "b": 5.0, "c": 5.0}, {"a": -4, "b": -3, "c": -2}, {}, {}),
        ({"a": 5.0, "b": 5.0, "c": 5.0}, {"a": -40, "b": 20, "c": 20}, {"b": 15, "c": 15}, {"a": 30}),
    ],
    ids=[
        "empty",
        "balanced",
        "own-zone-preferred",
        "most-needed-first",
        "most-spare-first",
        "more-than-wanted",
        "negative-shares",
        "negative-counts",
        "one-negative",
    ],
)
def test_zones_with_endpoints_to_spare_lend_them(desired, has, giving, receiving):
    wanted = {zone: Allocation(0, 100, share) for zone, share in desired.items()}

    assert giving_and_receiving_zones(wanted, has) == (giving, receiving)


@pytest.mark.parametrize(
    ("nodes", "ratios"),
    [
        ([], None),
        ([node("a", "1")], None),
        ([node("a", "1"), node("a", "1")], None),
        ([node("a", "1"), node("b", "1")], {"a": 0.5, "b": 0.5}),
        ([node("a", "1", ready="False"), node("b", "1")], None),
        ([node("a", "1"), node("b", "1", labels={"node-role.kubernetes.io/control-plane": ""})], None),
        ([node("a", "1"), node("b", "1"), node("b", "1", ready="False")], {"a": 0.5, "b": 0.5}),
        (
            [node("a", "1")] * 3 + [node("a", "2"), node("b", "3"), node("b", "1500m"), node("c", "500m")],
            {"a": 0.5, "b": 0.45, "c": 0.05},
        ),
    ],
)
def test_shares_of_zones(nodes, ratios):
    expected = None if ratios is None else {f"zone-{zone}": share for zone, share in ratios.items()}

    assert cpu_ratios(nodes) == expected


@pytest.mark.parametrize(
    ("annotations", "enabled"),
    [
        ({}, False),
        ({"topology-hints": "enabled"}, False),
        *(({key: value}, False) for key in (MODE, DEPRECATED) for value in ("enabled", "aUto")),
        *(({key: value}, True) for key in (MODE, DEPRECATED) for value in ("auto", "Auto")),
        ({MODE: "disabled"}, False),
        ({DEPRECATED: "disabled"}, False),
        ({MODE: "disabled", DEPRECATED: "auto"}, True),
        ({MODE: "auto", DEPRECATED: "disabled"}, False),
    ],
)
def test_annotations_that_ask_for_hints(annotations, enabled):
    assert hints_enabled({"metadata": {"annotations": annotations}}) is enabled
