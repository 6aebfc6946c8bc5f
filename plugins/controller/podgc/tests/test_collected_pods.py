"""Which pods the podgc controller ends, case by case.

Source: kubernetes ``pkg/controller/podgc/gc_controller_test.go``.
"""

import pytest
from hyperkube_controller.podgc import Podgc, decide, only_finalizers_hold

from hyperkube.client.actions import Patch
from hyperkube.kinds.resources import NODES, PODS
from hyperkube.testing.controller_rig import ControllerRig

AT_ONCE = {"deletionTimestamp": "2030-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0}
GOING = {"deletionTimestamp": "2030-01-01T00:00:00Z"}
HELD = {"finalizers": ["example.com/some-finalizer"]}
OUT = "node.kubernetes.io/out-of-service"


def pod(name, phase, node="node", reason="", **meta):
    age = f"1970-01-01T{ord(name[0]) - ord('a') + 1:02}:00:00Z"
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "default", "creationTimestamp": age, **meta},
        "spec": {"nodeName": node} if node else {},
        "status": {"phase": phase, **({"reason": reason} if reason else {})},
    }


def ended(found):
    """Return the names of what goes, and of what is told to have failed before it goes."""
    told = [each.pod["metadata"]["name"] for each in found if any(isinstance(one, Patch) for one in each.actions)]
    return "".join(sorted(each.pod["metadata"]["name"] for each in found)), "".join(sorted(told))


WAITS = {**AT_ONCE, **HELD}


@pytest.mark.parametrize(
    ("pods", "threshold", "deleted"),
    [
        ([pod("a", "Failed"), pod("b", "Succeeded"), pod("c", "Failed")], 1, "ab"),
        ([pod("a", "Failed"), pod("b", "Succeeded")], 0, ""),
        ([pod("a", "Running"), pod("b", "Succeeded"), pod("c", "Failed")], 1, "b"),
        ([pod("a", "Failed"), pod("b", "Succeeded")], 1, "a"),
        ([pod("a", "Failed"), pod("b", "Succeeded")], 5, ""),
        ([pod("a", "Failed"), pod("b", "Succeeded"), pod("c", "Failed", reason="Evicted")], 1, "ac"),
        ([pod("a", "Running"), pod("b", "Succeeded"), pod("c", "Failed", reason="Evicted")], 1, "c"),
        ([pod("a", "Succeeded", **WAITS), pod("b", "Failed", **WAITS)], 1, ""),
        ([pod("a", "Succeeded", **WAITS), pod("b", "Failed", **WAITS), pod("c", "Succeeded")], 2, "c"),
        (
            [
                pod("a", "Succeeded", **WAITS),
                pod("b", "Failed", **WAITS),
                pod("c", "Succeeded", **WAITS),
                pod("d", "Succeeded"),
            ],
            1,
            "d",
        ),
        (
            [
                pod("a", "Succeeded", **{**WAITS, "deletionGracePeriodSeconds": 30}),
                pod("b", "Succeeded", **AT_ONCE),
                pod("c", "Succeeded", **GOING, **HELD),
                pod("d", "Succeeded", **HELD),
            ],
            1,
            "abc",
        ),
    ],
    ids=[
        "two-of-three",
        "threshold-0-keeps-all",
        "running-ones-do-not-count",
        "oldest-first",
        "below",
        "evicted-first",
        "evicted-before-older",
        "held-by-finalizers-not-again",
        "held-by-finalizers-count",
        "no-more-than-candidates",
        "not-only-held-by-finalizers",
    ],
)
def test_ended_pods_beyond_the_threshold(pods, threshold, deleted):
    found = decide(pods, set(), set(), threshold, ControllerRig().clock.now())

    assert ended(found) == (deleted, "")
    assert {each.reason for each in found} <= {"terminated"}


THREE = [pod("a", "Running", "existing1"), pod("b", "Failed", "existing2"), pod("c", "Succeeded", "existing2")]
QUARANTINE = 40


@pytest.mark.parametrize(
    ("pods", "before", "delay", "added", "removed", "gone"),
    [
        (THREE, ["existing1", "existing2"], 2, [], [], ""),
        ([pod("a", "Failed", "deleted"), pod("b", "Succeeded", "deleted")], [], 2, [], [], "ab"),
        (
            [pod("a", "Failed", "deleted"), pod("b", "Succeeded", "deleted"), pod("c", "Running", "deleted")],
            [],
            2,
            [],
            [],
            "abc",
        ),
        (
            [
                pod("a", "Failed", "deleted", **WAITS),
                pod("b", "Running", "deleted"),
                pod("c", "Succeeded", "deleted"),
            ],
            [],
            2,
            [],
            [],
            "bc",
        ),
        ([pod("a", "Failed", "deleted")], [], 0.5, [], [], ""),
        ([pod("a", "Running", "deleted")], ["existing"], 2, [], [], "a"),
        (
            [
                pod("a", "Failed", "deleted"),
                pod("b", "Failed", "existing"),
                pod("c", "Succeeded", "deleted"),
                pod("d", "Running", "deleted"),
            ],
            ["existing"],
            2,
            [],
            [],
            "acd",
        ),
        ([pod("a", "Running", "node")], [], 0.5, ["node"], [], ""),
        ([pod("a", "Succeeded", "node")], ["node"], 2, [], ["node"], ""),
    ],
    ids=[
        "nodes-present",
        "no-nodes",
        "one-runs",
        "held-by-finalizers",
        "quarantine",
        "wrong-nodes",
        "some-missing",
        "node-added-in-time",
        "node-deleted-just-now",
    ],
)
def test_orphans(pods, before, delay, added, removed, gone):
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 0})
    rig.client.seed(NODES, *({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}} for name in before))
    rig.client.seed(PODS, *pods)
    rig.settle()
    rig.advance(delay * QUARANTINE - (1 if added else 0))
    rig.client.seed(NODES, *({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name}} for name in added))
    for name in removed:
        rig.client.delete(NODES, name)
    rig.advance(1)

    deleted = sorted(
        name.split("/")[1] for verb, kind, name in rig.client.actions if (verb, kind) == ("delete", "pods")
    )
    told = [name for verb, kind, name in rig.client.actions if (verb, kind) == ("patch", "pods")]
    running = [each["metadata"]["name"] for each in pods if each["status"]["phase"] == "Running"]
    assert "".join(deleted) == gone
    assert told == [f"default/{name}/status" for name in running if name in gone]


@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        (
            [pod("a", "Failed", "", **GOING), pod("b", "Succeeded", "", **GOING), pod("c", "Running", "", **GOING)],
            "abc/c",
        ),
        ([pod("a", "Failed", ""), pod("b", "Succeeded"), pod("c", "Running", **GOING)], "/"),
        (
            [
                pod("a", "Failed", "", **WAITS),
                pod("b", "Pending", "", **WAITS),
                pod("c", "Succeeded", "", **AT_ONCE),
            ],
            "bc/b",
        ),
    ],
    ids=["unscheduled", "scheduled-or-not-going", "held-by-finalizers"],
)
def test_pods_being_deleted_that_were_never_on_a_node(pods, expected):
    found = decide(pods, set(), set(), 0, ControllerRig().clock.now())

    assert "/".join(ended(found)) == expected


def node(name, ready, *effects, value=""):
    taints = [{"key": OUT, "value": value, "effect": effect} for effect in effects]
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name},
        "spec": {"taints": taints},
        "status": status,
    }


@pytest.mark.parametrize(
    ("nodes", "pods", "deleted", "told"),
    [
        (
            [node("w0", "False"), node("w1", "False")],
            [pod("a", "Running", "w0", **GOING), pod("b", "Running", "w1", **GOING)],
            "",
            "",
        ),
        (
            [
                node("w0", "False", "NoExecute"),
                node("w1", "False"),
                node("w2", "True"),
                node("w3", "False", "NoSchedule"),
                node("w4", "False", "PreferNoSchedule"),
                node("w5", "False", "NoExecute", value="any-value"),
                node("w6", "True", "NoExecute"),
            ],
            [
                each
                for number, letter in enumerate("hijklmn")
                for each in (
                    pod(letter, "Running", f"w{number}", **GOING),
                    pod(f"{letter}-pending", "Pending", f"w{number}"),
                    pod(f"{letter}-running", "Running", f"w{number}"),
                    pod(f"{letter}-unknown", "Unknown", f"w{number}"),
                )
            ],
            "hklm",
            "hklm",
        ),
        (
            [node("w0", "False", "NoExecute")],
            [
                pod("a", "Running", "w0", **GOING),
                pod("b", "Failed", "w0", **GOING),
                pod("c", "Succeeded", "w0", **GOING),
            ],
            "abc",
            "a",
        ),
        (
            [node("w0", "False", "NoExecute")],
            [pod("a", "Failed", "w0", **WAITS), pod("b", "Running", "w0", **WAITS)],
            "b",
            "b",
        ),
    ],
    ids=["not-ready-only", "taints", "phases", "held-by-finalizers"],
)
def test_nodes_out_of_service(nodes, pods, deleted, told):
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 0})
    rig.client.seed(NODES, *nodes)
    rig.client.seed(PODS, *pods)
    rig.settle()
    first = nodes[0]["metadata"]["name"]
    rig.client.patch(NODES, first, {"metadata": {"labels": {"touched": "yes"}}})
    rig.settle()

    done = [(verb, name.split("/")[1]) for verb, kind, name in rig.client.actions if kind == "pods" and "/" in name]
    assert "".join(sorted({name for verb, name in done if verb == "delete"})) == deleted
    assert "".join(sorted({name for verb, name in done if verb == "patch"})) == told


@pytest.mark.parametrize(
    ("phase", "meta", "expected"),
    [
        ("Succeeded", {}, False),
        ("Succeeded", {**GOING, **HELD}, False),
        ("Succeeded", {**WAITS, "deletionGracePeriodSeconds": 30}, False),
        ("Succeeded", AT_ONCE, False),
        ("Running", WAITS, False),
        ("Succeeded", WAITS, True),
        ("Failed", WAITS, True),
    ],
    ids=["not-going", "not-accepted", "grace", "no-finalizers", "running", "succeeded", "failed"],
)
def test_only_finalizers_hold(phase, meta, expected):
    assert only_finalizers_hold(pod("a", phase, **meta)) is expected


def test_ended_pods_held_by_finalizers_are_deleted_once():
    rig = ControllerRig(Podgc, settings={"terminated_pod_gc_threshold": 1})
    rig.client.seed(PODS, *(pod(name, "Succeeded", "", **HELD) for name in "abc"))
    for _ in range(3):
        rig.settle()
        rig.client.seed(PODS, pod("z", "Running", ""))
        rig.client.delete(PODS, "z", "default")

    deleted = [name for verb, kind, name in rig.client.actions if verb == "delete" and name.split("/")[1] in "abc"]
    assert sorted(deleted) == ["default/a", "default/b", "default/c"]
