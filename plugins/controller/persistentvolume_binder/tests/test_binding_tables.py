"""Binding, releasing and deleting, case by case.

Source of the cases: kubernetes ``pkg/controller/volume/persistentvolume`` (``binder_test.go``, ``delete_test.go``).
"""

import importlib.util
from pathlib import Path

import pytest

from hyperkube.kinds.resources import PERSISTENT_VOLUMES

_spec = importlib.util.spec_from_file_location("binder_world", Path(__file__).with_name("binder_world.py"))
assert _spec is not None
assert _spec.loader is not None
_world = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_world)
Disks, World = _world.Disks, _world.World

BOUND_BY, COMPLETED = "pv.kubernetes.io/bound-by-controller", "pv.kubernetes.io/bind-completed"
LABELS = {"foo": "true", "bar": "false"}


def claim(size="1Gi", volume="", phase="Pending", marks=(), storage_class="", **spec):
    made = _world.claim(size=size, storage_class=storage_class, **({"volumeName": volume} if volume else {}), **spec)
    made["metadata"]["annotations"] = dict.fromkeys(marks, "yes")
    return {**made, "status": {"phase": phase}}


def volume(name="v", size="1Gi", uid=None, of="c", phase="Pending", marks=(), **spec):
    """Return a volume; a `uid` reserves it for the claim `of`, an empty one by name alone."""
    reference = {} if uid is None else {"claimRef": {"namespace": "d", "name": of, **({"uid": uid} if uid else {})}}
    spec = {"persistentVolumeReclaimPolicy": "Retain", **spec}
    made = _world.volume(name, size, annotations=dict.fromkeys(marks, "yes"), **reference, **spec)
    return {**made, "status": {"phase": phase}}


def labelled(made):
    return {**made, "metadata": {**made["metadata"], "labels": LABELS}}


SELECTOR = {"selector": {"matchLabels": LABELS}}
BY_US = (BOUND_BY, COMPLETED)

# given claim, given volumes → (phase, volume's name, marks of the claim), marks of that volume, event
CLAIMS = {
    "1-1 bind": (claim(), [volume()], ("Bound", "v", BY_US), (BOUND_BY,), None),
    "1-2 too small": (claim("10Gi"), [volume()], ("Pending", "", ()), (), "FailedBinding"),
    "1-3 back to pending": (claim("10Gi", phase="Bound"), [volume()], ("Pending", "", ()), (), "FailedBinding"),
    "1-4 the smallest": (claim(), [volume("big", "10Gi"), volume()], ("Bound", "v", BY_US), (BOUND_BY,), None),
    "1-5 reserved by name": (claim(), [volume("big", "10Gi", ""), volume()], ("Bound", "big", BY_US), (), None),
    "1-6 reserved by uid": (claim(), [volume("big", "10Gi", "uid-c"), volume()], ("Bound", "big", BY_US), (), None),
    "1-7 another's uid": (claim(), [volume("v", "10Gi", "uid-777")], ("Pending", "", ()), (), "FailedBinding"),
    "1-8 after a crash: volume bound": (
        claim(),
        [volume(uid="uid-c", marks=[BOUND_BY])],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "1-9 after a crash: its status, too": (
        claim(),
        [volume(uid="uid-c", marks=[BOUND_BY], phase="Bound")],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "1-10 after a crash: claim bound": (
        claim(volume="v", marks=BY_US),
        [volume(uid="uid-c", marks=[BOUND_BY], phase="Bound")],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "1-11 selector": (claim(**SELECTOR), [labelled(volume())], ("Bound", "v", BY_US), (BOUND_BY,), None),
    "1-12 other labels": (claim(**SELECTOR), [volume()], ("Pending", "", ()), (), "FailedBinding"),
    "2-1 names no volume": (claim(volume="v"), [], ("Pending", "v", ()), (), None),
    "2-2 names no volume, back to pending": (claim(volume="v", phase="Bound"), [], ("Pending", "v", ()), (), None),
    "2-3 names a free one": (claim(volume="v"), [volume()], ("Bound", "v", (COMPLETED,)), (BOUND_BY,), None),
    "2-4 names one reserved by name": (claim(volume="v"), [volume(uid="")], ("Bound", "v", (COMPLETED,)), (), None),
    "2-5 names one reserved by uid": (claim(volume="v"), [volume(uid="uid-c")], ("Bound", "v", (COMPLETED,)), (), None),
    "2-6 names another's": (
        claim(volume="v", phase="Bound"),
        [volume(uid="uid-x", of="x", phase="Bound")],
        ("Pending", "v", ()),
        (),
        "FailedBinding",
    ),
    "2-7 bound by us to another's": (
        claim(volume="v", phase="Bound", marks=[BOUND_BY]),
        [volume(uid="uid-x", of="x", phase="Bound")],
        ("Bound", "v", (BOUND_BY,)),
        (),
        None,
    ),
    "2-8 names one with other labels": (
        claim(volume="v", **SELECTOR),
        [volume()],
        ("Bound", "v", (COMPLETED,)),
        (BOUND_BY,),
        None,
    ),
    "3-1 lost its name": (claim(phase="Bound", marks=BY_US), [], ("Lost", "", BY_US), (), "ClaimLost"),
    "3-2 lost its volume": (claim(volume="v", phase="Bound", marks=BY_US), [], ("Lost", "v", BY_US), (), "ClaimLost"),
    "3-3 its volume is free": (
        claim(volume="v", marks=BY_US),
        [volume()],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "3-4 its volume is of another uid": (
        claim(volume="v", phase="Bound", marks=BY_US),
        [volume(uid="uid-x", phase="Bound")],
        ("Lost", "v", BY_US),
        (),
        "ClaimMisbound",
    ),
    "3-5 its volume is reserved by name": (
        claim(volume="v", marks=BY_US),
        [volume(uid="")],
        ("Bound", "v", BY_US),
        (),
        None,
    ),
    "3-7 its volume is free, with other labels": (
        claim(volume="v", marks=BY_US, **SELECTOR),
        [volume()],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "13-1 a class, though a smaller one has none": (
        claim(storage_class="gold"),
        [volume("small"), volume("v", "10Gi", storageClassName="gold")],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "13-2 no class, though a smaller one has one": (
        claim(),
        [volume("small", storageClassName="gold"), volume("v", "10Gi")],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "13-3 a class, though a smaller one has another": (
        claim(storage_class="gold"),
        [volume("small", storageClassName="silver"), volume("v", "10Gi", storageClassName="gold")],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "13-5 no class said, none there": (
        claim(storage_class=None),
        [volume()],
        ("Bound", "v", BY_US),
        (BOUND_BY,),
        None,
    ),
    "3-6 its volume is another's": (
        claim(volume="v", phase="Bound", marks=BY_US),
        [volume(uid="uid-x", of="x", phase="Bound")],
        ("Lost", "v", BY_US),
        (),
        "ClaimMisbound",
    ),
}


@pytest.mark.parametrize(("given", "volumes", "expected", "marks", "event"), CLAIMS.values(), ids=CLAIMS)
def test_a_claim(given, volumes, expected, marks, event):
    world = World([given], volumes)

    found = world.claim()
    name = found["spec"].get("volumeName", "")
    told = set(found["metadata"].get("annotations") or {})
    assert (found["status"]["phase"], name, told) == (*expected[:2], set(expected[2]))
    if expected[0] == "Bound" and event is None and COMPLETED in expected[2]:
        taken = world.volume(name)
        assert taken["spec"]["claimRef"]["uid"] == "uid-c"
        assert taken["status"]["phase"] == "Bound"
        assert set(taken["metadata"].get("annotations") or {}) == set(marks)
    assert list(world.said()) == ([event] if event else [])


ELSEWHERE = claim(volume="other", phase="Bound", marks=BY_US)

VOLUMES = {
    "4-1 free": (volume(), None, "Available", None),
    "4-2 reserved by name": (volume(uid="", phase="Pending"), None, "Available", ""),
    "4-3 its claim is gone": (volume(uid="uid-c", phase="Bound"), None, "Released", "uid-c"),
    "4-4 its claim is another": (volume(uid="uid-x", phase="Bound"), claim(), "Released", "uid-x"),
    "4-5 failed stays failed": (volume(uid="uid-c", phase="Failed"), None, "Failed", "uid-c"),
    "4-6 bound by us, its claim is bound elsewhere": (
        volume(uid="uid-c", phase="Bound", marks=[BOUND_BY]),
        ELSEWHERE,
        "Available",
        None,
    ),
    "4-7 bound by its user, its claim is bound elsewhere": (
        volume(uid="uid-c", phase="Bound"),
        ELSEWHERE,
        "Available",
        "",
    ),
}


@pytest.mark.parametrize(("given", "of", "phase", "uid"), VOLUMES.values(), ids=VOLUMES)
def test_a_volume(given, of, phase, uid):
    others = [volume("other", uid="uid-c", phase="Bound")] if of is ELSEWHERE else []

    found = World([of] if of else [], [given, *others]).volume()

    reference = found["spec"].get("claimRef")
    assert found["status"]["phase"] == phase
    assert (None if reference is None else reference.get("uid", "")) == uid


def test_of_two_volumes_bound_to_one_claim_the_second_is_rolled_back():  # 10-2
    given = claim(volume="v", phase="Bound", marks=BY_US)
    volumes = [volume(name, uid="uid-c", phase="Bound", marks=[BOUND_BY]) for name in ("v", "second")]

    world = World([given], volumes)

    assert world.volume()["status"]["phase"] == world.claim()["status"]["phase"] == "Bound"
    assert world.volume("second")["status"]["phase"] == "Available"
    assert "claimRef" not in world.volume("second")["spec"]
    assert world.volume("second")["metadata"].get("annotations") == {}


def test_a_reclaim_policy_that_is_none_is_told():  # 6-10
    world = World([], [volume(uid="uid-c", phase="Bound", persistentVolumeReclaimPolicy="Unknown")])

    text = "Volume has unrecognized PersistentVolumeReclaimPolicy"
    assert world.said() == {"VolumeUnknownReclaimPolicy": text}
    assert (world.volume()["status"]["phase"], world.volume()["status"]["message"]) == ("Failed", text)


def test_a_volume_that_could_not_be_deleted_has_failed_and_is_tried_again():
    disks = Disks(refuse="in use")
    marks = {"pv.kubernetes.io/provisioned-by": "example.com/disks"}
    given = volume(uid="uid-c", phase="Bound", persistentVolumeReclaimPolicy="Delete")
    given["metadata"]["annotations"] = marks
    world = World([], [given], disks=disks)
    assert (world.volume()["status"]["phase"], world.volume()["status"]["message"]) == ("Failed", "in use")
    assert world.said() == {"VolumeFailedDelete": "in use"}

    disks.refuse = ""
    world.advance(60)

    assert disks.gone == ["v"]
    assert world.client.objects(PERSISTENT_VOLUMES) == []
