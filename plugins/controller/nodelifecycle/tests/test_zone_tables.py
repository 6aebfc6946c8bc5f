"""States of zones, and the taints that evict, as tables.

The cases are those of kubernetes ``node_lifecycle_controller_test.go`` and ``scheduler/rate_limited_queue_test.go``.
"""

import pytest
from hyperkube_controller.nodelifecycle.zones import Change, EvictionRates, ZoneEvictions
from node_world import Rig, evicted, failed, node, taints

from hyperkube.kinds.resources import NODES

NORMAL, PARTIAL, FULL = "Normal", "PartialDisruption", "FullDisruption"
EXCLUDED = {"node.kubernetes.io/exclude-disruption": ""}


def in_zone(zone, status, name, labels=()):
    if zone:
        region, _, zone = zone.partition("/")
        labels = {"topology.kubernetes.io/region": region, "topology.kubernetes.io/zone": zone, **dict(labels)}
    return node(status, name=name, labels=dict(labels))


def states(rig):
    """Return the state of each zone that has nodes."""
    zones = rig.plugins[0]._zones._zones
    named = {key.replace(":\x00:", "/"): zone for key, zone in zones.items() if zone.nodes}
    return {key: zone.state.value for key, zone in named.items()}


@pytest.mark.parametrize(
    ("zones", "before", "after", "first", "then"),
    [
        pytest.param([""], ["True"], ["True"], {"": NORMAL}, {"": NORMAL}, id="new, without a zone"),
        pytest.param(
            ["r/1", "r/2"],
            ["Unknown", "Unknown"],
            ["Unknown", "True"],
            {"r/1": FULL, "r/2": FULL},
            {"r/1": FULL, "r/2": NORMAL},
            id="both zones down, one comes back",
        ),
        pytest.param(
            ["r/1"] * 4,
            [""] * 4,
            ["Unknown"] * 3 + ["True"],
            {"r/1": FULL},
            {"r/1": PARTIAL},
            id="new, nothing said yet; most fail",
        ),
        pytest.param(
            ["r/1"] * 5,
            ["Unknown"] * 2 + ["True"] * 3,
            ["Unknown"] * 3 + ["True"] * 2,
            {"r/1": NORMAL},
            {"r/1": PARTIAL},
            id="one more fails, past the threshold",
        ),
        pytest.param(
            ["r/1"] * 3,
            ["Unknown"] * 2 + ["True"],
            ["Unknown"] * 3,
            {"r/1": NORMAL},
            {"r/1": FULL},
            id="two of three down are few; the last one fails",
        ),
        pytest.param(
            ["r/1", "r/2"],
            ["Unknown", "True"],
            ["Unknown", "True"],
            {"r/1": FULL, "r/2": NORMAL},
            {"r/1": FULL, "r/2": NORMAL},
            id="all of one zone down",
        ),
        pytest.param(
            ["r/1", "s/2"],
            ["Unknown", "Unknown"],
            ["Unknown", "Unknown"],
            {"r/1": FULL, "s/2": FULL},
            {"r/1": FULL, "s/2": FULL},
            id="all of both zones down",
        ),
        pytest.param(["r/1"], ["True"], [""], {"r/1": NORMAL}, {"r/1": FULL}, id="the Ready condition was taken away"),
    ],
)
def test_states_of_zones_follow_what_their_nodes_say(zones, before, after, first, then):
    rig = Rig()
    rig.client.seed(NODES, *(in_zone(zone, before[index], f"n{index}") for index, zone in enumerate(zones)))
    rig.settle()
    found = states(rig)

    rig.clock.advance(3600)
    for index, status in enumerate(after):
        if status == "True":
            rig.report(f"n{index}", status)
        else:
            rig.client.patch(NODES, f"n{index}", {"status": node(status)["status"]}, subresource="status")
    rig.settle()

    assert (found, states(rig)) == (first, then)


def test_an_excluded_node_does_not_make_its_zone_less_disrupted():
    rig = Rig()
    rig.client.seed(NODES, in_zone("r/1", "Unknown", "n1"), in_zone("r/1", "True", "master", EXCLUDED))
    rig.settle()

    assert states(rig) == {"r/1": FULL}


def test_a_node_called_master_is_not_excluded_for_its_name():
    rig = Rig()
    rig.client.seed(NODES, node("Unknown"), node(name="master-abc"))
    rig.settle()

    assert states(rig) == {"": NORMAL}


UNREACHABLE, NOT_READY = ("unreachable", "NoExecute"), ("not-ready", "NoExecute")


def test_taints_that_evict_follow_the_ready_condition():
    rig = Rig("well", node_eviction_rate=100000.0)
    rig.client.seed(NODES, *failed("n0", status="Unknown"), *failed("n2"), node(name="n3"))
    rig.settle()
    assert UNREACHABLE in taints(rig, "n0")
    assert NOT_READY in taints(rig, "n2")

    rig.report("n2", "True")
    rig.report("n3", "False")
    rig.client.patch(NODES, "n3", {"status": {"conditions": []}}, subresource="status")
    rig.settle()

    assert taints(rig, "n2") == taints(rig, "n3") == set()


def test_a_node_that_waits_twice_does_not_hold_up_those_behind_it():
    rig = Rig("well", node_eviction_rate=100000.0)
    rig.client.seed(NODES, *failed("n0", status="Unknown"), *failed("n2"))
    rig.settle()

    rig.report("n0", "True")
    rig.client.seed(NODES, *failed("n3", status="Unknown"), node(name="n4"), *failed("n5"))
    rig.settle()

    assert evicted(rig) == ["n2", "n3", "n5"]
    assert (UNREACHABLE in taints(rig, "n3"), NOT_READY in taints(rig, "n5")) == (True, True)


def test_one_taint_that_evicts_is_exchanged_for_the_other_without_a_turn():
    rig = Rig("well", node_eviction_rate=0.000001)
    rig.client.seed(NODES, *failed("n0", status="Unknown"))
    rig.settle()
    before = taints(rig, "n0")
    rig.report("n0", "False")
    rig.settle()

    assert before == {UNREACHABLE, ("unreachable", "NoSchedule")}
    assert taints(rig, "n0") == {NOT_READY, ("not-ready", "NoSchedule")}


def test_nodes_that_all_fall_silent_at_once_are_never_emptied():
    rig = Rig()
    rig.client.seed(NODES, *(node(name=f"n{number}") for number in range(5)))
    rig.settle()
    rig.advance(41)
    rig.advance(60)

    written = [each for resource, event in rig.client.journal if resource == NODES for each in [event.object]]
    effects = {taint["effect"] for each in written for taint in each["spec"].get("taints") or ()}
    assert states(rig) == {"": FULL}
    assert effects == {"NoSchedule"}


RATES = EvictionRates(primary=0.1, secondary=0.01, unhealthy_threshold=0.55, large_size=50)


@pytest.fixture
def evictions():
    """Zones with one that is well and three failed nodes; the first call to judge was made."""
    made = ZoneEvictions(RATES)
    for index in range(4):
        made.put(node(name=f"well{index}"), f"well{index}", ready=True)
    for name in ("first", "second", "third"):
        made.put(node(name=name), name, ready=False)
    made.judge(0)
    return made


def test_nodes_are_emptied_in_the_order_in_which_they_ask(evictions):
    order = []
    for now in (0, 10, 20):
        order += [name for name in ("first", "second", "third") if name not in order and evictions.wait(name, now) == 0]
        evictions.done(order[-1])

    assert order == ["first", "second", "third"]


def test_a_node_that_is_gone_does_not_take_a_turn(evictions):
    evictions.drop("first")

    assert evictions.wait("second", 0) == 0.0


def test_a_node_keeps_its_turn_until_it_is_done_and_then_needs_another(evictions):
    assert evictions.wait("first", 0) == evictions.wait("first", 1) == 0.0
    evictions.done("first")

    assert evictions.wait("first", 1) == pytest.approx(9)


def test_a_node_that_is_held_takes_no_turn_from_the_others(evictions):
    evictions.hold("first", 5)

    assert evictions.wait("first", 0) == 5
    assert evictions.wait("second", 0) == 0.0
    assert evictions.wait("first", 10) == 0.0


def test_no_node_of_a_zone_without_a_rate_is_emptied(evictions):
    for index in range(4):
        evictions.put(node(name=f"well{index}"), f"well{index}", ready=False)

    assert evictions.judge(1) is Change.STOPPED
    assert evictions.wait("first", 100) is None


def test_a_zone_that_lost_its_nodes_begins_anew(evictions):
    for name in (*(f"well{index}" for index in range(4)), "first", "second", "third"):
        evictions.drop(name)
    evictions.judge(1)
    assert evictions.sizes() == {"": (0, 0)}
    evictions.put(node("False", name="new"), "new", ready=False)

    assert evictions.judge(2) is Change.STOPPED


def samples(rig):
    return {
        (sample.name.removeprefix("node_collector_"), sample.labels.get("zone", "").replace("\x00", "")): sample.value
        for family in rig.plugins[0]._metrics.collect()
        for sample in family.samples
        if not sample.name.endswith(("_bucket", "_sum", "_created"))
    }


def test_zones_and_evictions_are_told_at_metrics():
    rig = Rig("w1", "w2", "w3")
    rig.client.seed(NODES, *failed("a", "b"), in_zone("r/z", "True", "far"))
    rig.settle()
    looks = samples(rig).pop(("update_node_health_duration_seconds_count", ""))
    rig.client.delete(NODES, "far")
    rig.settle()

    found = samples(rig)
    assert found.pop(("update_node_health_duration_seconds_count", "")) > looks >= 6
    assert found == {
        ("zone_size", ""): 5,
        ("zone_health", ""): 60,
        ("unhealthy_nodes_in_zone", ""): 2,
        ("evictions_total", ""): 1,
        ("zone_size", "r::z"): 0,
        ("zone_health", "r::z"): 100,
        ("unhealthy_nodes_in_zone", "r::z"): 0,
        ("evictions_total", "r::z"): 0,
    }
