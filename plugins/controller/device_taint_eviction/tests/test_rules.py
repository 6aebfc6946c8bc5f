"""DeviceTaintRules: who goes because of one, and what its status says.

Source of the cases: kubernetes ``pkg/controller/devicetainteviction/device_taint_eviction_test.go``.
"""

from dataclasses import replace

import pytest
from device_world import GONE, STAYS, World, claim, pod, rslice, taint, tolerating
from hyperkube_controller.device_taint_eviction import RULES_GATE, DeviceTaintEviction
from hyperkube_controller.device_taint_eviction.rules import RuleCounts, seconds_left, with_condition
from hyperkube_lib.scheduling.device_taints import selects

from hyperkube.kinds.resources import DEVICE_TAINT_RULES, PODS
from hyperkube.machinery.times import format_time, parse_time


class On(DeviceTaintEviction):
    """The controller where rules count."""

    def __init__(self, context):
        super().__init__(replace(context, gates={RULES_GATE: True}))


def rule(name="rule", *, effect="NoExecute", after=0, generation=1, **selector):
    spec = {"deviceSelector": selector, "taint": taint(effect=effect, after=after)}
    return {"metadata": {"name": name, "uid": f"uid-{name}", "generation": generation}, "spec": spec}


def world(*rules, claims=None, plugin=On):
    found = World(plugin, slices=[rslice()], claims=claims or [claim()], pods=[pod()])
    found.client.seed(DEVICE_TAINT_RULES, *rules)
    found.rig.settle()
    return found


def told(found, name="rule"):
    (row,) = found.client.get(DEVICE_TAINT_RULES, name)["status"]["conditions"]
    return row["type"], row["status"], row["reason"], row["message"]


@pytest.mark.parametrize(
    ("selector", "what"),
    [
        ({}, GONE),
        ({"driver": "a"}, GONE),
        ({"driver": "a", "pool": "n", "device": "d"}, GONE),
        ({"driver": "b"}, STAYS),
        ({"pool": "m"}, STAYS),
        ({"device": "other"}, STAYS),
    ],
    ids=["all", "driver", "device", "another driver", "another pool", "another device"],
)
def test_the_selector_chooses(selector, what):
    assert world(rule(**selector)).pods() == [what]


def test_a_rule_without_selector_taints_nothing():
    assert not selects({"spec": {"taint": {}}}, "a", "n", "d")


@pytest.mark.parametrize("effect", ["NoSchedule", "None"])
def test_other_effects_evict_nobody(effect):
    assert world(rule(effect=effect)).pods() == [STAYS]


def test_tolerations_count_as_for_slices():
    found = world(rule(), claims=[claim(tolerating(60))])
    before = found.pods()

    assert (before, found.after(61)) == ([STAYS], [GONE])


def test_a_rule_that_goes_takes_its_eviction_back():
    found = world(rule(), claims=[claim(tolerating(60))])
    found.client.delete(DEVICE_TAINT_RULES, "rule")

    assert found.after(100) == [STAYS]
    assert "Cancelling deletion" in found.told()


def test_a_rule_that_changes_its_effect_begins_to_evict():
    found = world(rule(effect="None"))
    before, said = found.pods(), told(found)
    stored = found.client.get(DEVICE_TAINT_RULES, "rule")
    changed = {**stored, "spec": rule()["spec"], "metadata": {**stored["metadata"], "generation": 2}}
    found.client.update(DEVICE_TAINT_RULES, changed)
    found.rig.settle()

    assert before == [STAYS]
    assert said[2] == "NoEffect"
    assert said[3].startswith(
        "2 published devices selected. 1 allocated device selected. 1 pod would be evicted in 1 namespace if the effect"
    )
    assert found.pods() == [GONE]


def test_the_status_follows_the_evictions():
    found = world(rule(), claims=[claim(tolerating(60))])
    pending = told(found)
    found.after(61)
    found.client.patch(PODS, "p", {"metadata": {"finalizers": None}}, "default")
    found.after(11)

    assert pending == ("EvictionInProgress", "True", "PodsPendingEviction", "1 pod needs to be evicted in 1 namespace.")
    text = "1 pod evicted since starting the controller."
    assert told(found) == ("EvictionInProgress", "False", "Completed", text)


def other(name, namespace="default"):
    """Return another pod with a claim for another device."""
    shared = claim(name=f"c-{name}", device="other", users=(f"u-{name}",), owner=f"u-{name}")
    shared["metadata"]["namespace"] = namespace
    shared["status"]["reservedFor"][0]["name"] = name
    made = pod(f"c-{name}", name=name, uid=f"u-{name}", namespace=namespace)
    return shared, made


@pytest.mark.parametrize(("namespace", "places"), [("default", "1 namespace"), ("elsewhere", "2 different namespaces")])
@pytest.mark.parametrize("effect", ["NoExecute", "None"])
def test_pods_are_counted_by_their_namespaces(effect, namespace, places):
    second, user = other("p2", namespace)
    tolerant = claim(tolerating(60))
    second["status"]["allocation"]["devices"]["results"][0]["tolerations"] = [tolerating(60)]
    found = World(On, claims=[tolerant, second], pods=[pod(), user])
    found.client.seed(DEVICE_TAINT_RULES, rule(effect=effect))
    found.rig.settle()
    said = told(found)[2:]
    left = found.after(61)

    if effect == "None":
        assert said == ("NoEffect", f"0 published devices selected. 2 allocated devices selected. {WOULD}".format(
            "2 pods", places))  # fmt: skip
        assert left == [STAYS, STAYS]
    else:
        assert said == ("PodsPendingEviction", f"2 pods need to be evicted in {places}.")
        assert left == [GONE, GONE]


def test_a_pod_with_two_claims_of_a_rule_counts_once():
    second, _ = other("p2")
    second["status"]["reservedFor"].append({"resource": "pods", "name": "p", "uid": "uid"})
    found = World(On, slices=[rslice()], claims=[claim(), second], pods=[pod("c", "c-p2")])
    found.client.seed(DEVICE_TAINT_RULES, rule())
    found.rig.settle()
    found.after(11)

    assert found.pods() == [GONE]
    assert told(found)[2:] == ("Completed", "1 pod evicted since starting the controller.")


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_eviction_counts_for_each_rule_that_would_have_caused_it(order):
    """The second rule's taint begins later; in either order the first one evicts."""
    second, _ = other("p2")
    second["status"]["reservedFor"].append({"resource": "pods", "name": "p", "uid": "uid"})
    found = World(On, slices=[rslice()], claims=[claim(), second], pods=[pod("c", "c-p2")])
    rules = [rule("one", device="d"), rule("two", device="other", after=40)]
    found.client.seed(DEVICE_TAINT_RULES, *(rules[index] for index in order))
    found.rig.settle()
    gone = found.pods()
    found.after(11)
    found.after(60)

    assert gone == [GONE]
    text = "1 pod evicted since starting the controller."
    assert [told(found, name)[2:] for name in ("one", "two")] == [("Completed", text)] * 2
    assert found.told() == ["Marking for deletion"]


def test_a_rule_that_is_gone_is_not_counted_for_any_more():
    found = world(rule(), claims=[claim()])
    found.client.delete(DEVICE_TAINT_RULES, "rule")
    found.rig.settle()

    assert found.rig.plugins[0]._evicted == {}


def test_with_the_gate_off_rules_do_nothing():
    found = world(rule(), plugin=DeviceTaintEviction)

    assert found.pods() == [STAYS]
    assert "status" not in found.client.get(DEVICE_TAINT_RULES, "rule")


WOULD = (
    "{} would be evicted in {} if the effect was NoExecute. This information will not be updated again. Recreate the"
    " DeviceTaintRule to trigger an update."
)
NOW = parse_time("2026-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("effect", "counts", "status", "reason", "message"),
    [
        ("NoExecute", RuleCounts(), "False", "NotStarted", ""),
        (
            "NoExecute",
            RuleCounts(pods=3, namespaces=2, evicted=2),
            "True",
            "PodsPendingEviction",
            "3 pods need to be evicted in 2 different namespaces. 2 pods evicted since starting the controller.",
        ),
        ("NoSchedule", RuleCounts(), "False", "OtherEffect", "Eviction only happens for the NoExecute effect."),
        (
            "None",
            RuleCounts(published=1, allocated=2),
            "False",
            "NoEffect",
            WOULD.format("1 published device selected. 2 allocated devices selected. 0 pods", "0 different namespaces"),
        ),
    ],
    ids=["not started", "pending", "another effect", "no effect"],
)
def test_what_the_condition_says(effect, counts, status, reason, message):
    (row,) = with_condition(rule(effect=effect), counts, NOW)

    assert (row["status"], row["reason"], row["message"]) == (status, reason, message)
    assert row["observedGeneration"] == 1
    again = {**rule(effect=effect), "status": {"conditions": [row]}}
    assert with_condition(again, counts, NOW) is None


@pytest.mark.parametrize(("generation", "left"), [(1, 7.0), (2, 0.0)], ids=["the same", "a newer one"])
def test_the_status_changes_seldom(generation, left):
    row = {"type": "EvictionInProgress", "observedGeneration": 1, "lastTransitionTime": format_time(NOW)}
    written = {**rule(generation=generation), "status": {"conditions": [row]}}

    assert seconds_left(written, parse_time("2026-01-01T00:00:03Z")) == left
