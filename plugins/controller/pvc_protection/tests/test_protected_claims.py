"""Which claims are held and let go, case by case.

Source: kubernetes ``pkg/controller/volume/pvcprotection/pvc_protection_controller_test.go``.
"""

import pytest
from hyperkube_controller.pvc_protection import FINALIZER, PvcProtection

from hyperkube.kinds.resources import PERSISTENT_VOLUME_CLAIMS, PODS
from hyperkube.machinery.errors import InternalError
from hyperkube.testing.controller_rig import ControllerRig


def claim(name="default-pvc", namespace="default-ns", held=True, deleted=True):
    meta = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    meta |= {"finalizers": [FINALIZER]} if held else {}
    meta |= {"deletionTimestamp": "2030-01-01T00:00:00Z"} if deleted else {}
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": meta, "spec": {}}


def pod(*uses, name="pod1", namespace="default-ns", node="node1", phase="Running", uid="uid1"):
    volumes = [{"name": f"v{number}", "persistentVolumeClaim": {"claimName": use}} for number, use in enumerate(uses)]
    spec = {"volumes": [*volumes, {"name": "scratch", "emptyDir": {}}]} | ({"nodeName": node} if node else {})
    meta = {"name": name, "namespace": namespace, "uid": uid}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": {"phase": phase}}


def world(claims, pods=()):
    rig = ControllerRig(PvcProtection)
    rig.client.seed(PODS, *pods)
    rig.client.seed(PERSISTENT_VOLUME_CLAIMS, *claims)
    return rig


def held(rig):
    """Return the claims that are there and have the finalizer."""
    found = rig.client.objects(PERSISTENT_VOLUME_CLAIMS)
    return sorted(each["metadata"]["name"] for each in found if FINALIZER in each["metadata"].get("finalizers", ()))


def updates(rig):
    return [name for verb, kind, name in rig.client.actions if (verb, kind) == ("update", "persistentvolumeclaims")]


MINE = "default-pvc"


@pytest.mark.parametrize(
    ("claims", "pods", "written", "left"),
    [
        (
            [claim(held=False, deleted=False), claim("pvc2", "namespace-2", held=False, deleted=False)],
            [],
            [f"default-ns/{MINE}", "namespace-2/pvc2"],
            [MINE, "pvc2"],
        ),
        ([claim(deleted=False), claim("pvc2", "namespace-2", deleted=False)], [], [], [MINE, "pvc2"]),
        ([claim(), claim("pvc2", "namespace-2")], [], [f"default-ns/{MINE}", "namespace-2/pvc2"], []),
        ([claim(), claim("pvc2")], [], [f"default-ns/{MINE}", "default-ns/pvc2"], []),
        ([claim()], [pod(MINE)], [], [MINE]),
        ([claim()], [pod("unrelatedPVC")], [f"default-ns/{MINE}"], []),
        (
            [claim(), claim("pvc2"), claim("pvc3")],
            [pod("unrelatedPVC")],
            [f"default-ns/{MINE}", "default-ns/pvc2", "default-ns/pvc3"],
            [],
        ),
        ([claim()], [pod(MINE, phase="Failed")], [], [MINE]),
        ([claim()], [pod(MINE, phase="Succeeded")], [], [MINE]),
        ([claim()], [pod(MINE, node="")], [f"default-ns/{MINE}"], []),
        (
            [claim(), claim("pvc2"), claim("pvc3", "namespace-3")],
            [pod(MINE), pod("pvc3", name="pod2", namespace="namespace-3")],
            ["default-ns/pvc2"],
            [MINE, "pvc3"],
        ),
    ],
    ids=[
        "not-held-yet",
        "held",
        "deleted",
        "deleted-of-one-namespace",
        "used",
        "another-used",
        "several-and-another-used",
        "used-by-a-failed-pod",
        "used-by-a-finished-pod",
        "used-by-an-unscheduled-pod",
        "some-used",
    ],
)
def test_claims(claims, pods, written, left):
    rig = world(claims, pods)

    rig.settle()

    assert sorted(updates(rig)) == written
    assert held(rig) == left


@pytest.mark.parametrize("deleted", [False, True], ids=["put-on", "taken-off"])
def test_a_write_that_fails_is_repeated(deleted):
    rig = world([claim(held=deleted, deleted=deleted)])
    for _ in range(2):
        rig.client.fail_next("update", "persistentvolumeclaims", InternalError("mock error"))

    rig.settle()

    assert updates(rig) == [f"default-ns/{MINE}"] * 3
    assert held(rig) == ([] if deleted else [MINE])


def test_a_list_that_fails_holds_up_no_other_claim():
    rig = world([claim(), claim("pvc2")])
    rig.informers.refresh()
    rig.client.fail_next("list", "pods", InternalError("mock error"))

    for controller in rig.controllers:
        controller.drain()
    assert len(updates(rig)) == 1
    rig.settle()

    assert held(rig) == []


def test_pods_that_are_not_seen_yet_count(monkeypatch):
    rig = world(
        [claim(), claim("pvc2"), claim("pvc3", "namespace-3")],
        [pod(MINE), pod("pvc3", name="pod2", namespace="namespace-3")],
    )
    monkeypatch.setattr(rig.plugins[0]._pods, "by_index", lambda _index, _key: [])

    rig.settle()

    assert held(rig) == [MINE, "pvc3"]


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
def test_a_pod_that_changes_keeps_its_claim(phase):
    rig = world([claim()], [pod(MINE)])
    rig.settle()

    rig.client.patch(PODS, "pod1", {"status": {"phase": phase}}, "default-ns")
    rig.settle()

    assert held(rig) == [MINE]


def test_a_pod_that_goes_lets_its_claim_go():
    rig = world([claim()], [pod(MINE)])
    rig.settle()

    rig.client.delete(PODS, "pod1", "default-ns", options={"gracePeriodSeconds": 0})
    rig.settle()

    assert held(rig) == []


@pytest.mark.parametrize(
    ("of", "after", "left"),
    [
        (claim(), pod(uid="uid2"), []),
        (claim(deleted=False), pod(uid="uid2"), [MINE]),
        (claim(), pod(MINE, uid="uid2"), [MINE]),
    ],
    ids=["not-used-any-more", "not-deleted", "still-used"],
)
def test_a_pod_replaced_in_one_step(of, after, left):
    rig = world([of], [pod(MINE)])
    rig.settle()

    rig.client.delete(PODS, "pod1", "default-ns", options={"gracePeriodSeconds": 0})
    rig.client.seed(PODS, after)
    rig.settle()

    assert held(rig) == left


def test_a_pod_that_gets_a_node_takes_its_claim():
    rig = world([claim(deleted=False)], [pod(MINE, node="")])
    rig.settle()

    rig.client.patch(PODS, "pod1", {"spec": {"nodeName": "node1"}}, "default-ns")
    rig.client.delete(PERSISTENT_VOLUME_CLAIMS, MINE, "default-ns")
    rig.settle()

    assert held(rig) == [MINE]
