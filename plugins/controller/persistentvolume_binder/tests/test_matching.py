"""Which volume suits a claim, case by case.

Source of the cases: kubernetes ``pkg/controller/volume/persistentvolume/index_test.go``.
"""

import pytest
from hyperkube_controller.persistentvolume_binder.matching import find

ONCE, READ, MANY = "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany"
DISK, DISK_OR_READ, SHARE = (ONCE,), (ONCE, READ), (ONCE, READ, MANY)
LABELS = {"should-exist": "true"}


def volume(name, size, modes=DISK_OR_READ, storage_class="", labels=None, claim=None, **spec):
    spec = {"capacity": {"storage": size}, "accessModes": [*modes], "storageClassName": storage_class, **spec}
    if claim:
        spec["claimRef"] = claim
    return {"metadata": {"name": name, "labels": labels or {}}, "spec": spec}


def claim(size, modes=(READ, ONCE), storage_class="", labels=None, **spec):
    spec = {"accessModes": [*modes], "resources": {"requests": {"storage": size}}, **spec}
    if labels:
        spec["selector"] = {"matchLabels": labels}
    meta = {"name": "claim01", "namespace": "myns", "uid": "u"}
    return {"metadata": meta, "spec": spec | {"storageClassName": storage_class}}


def name(found):
    return found["metadata"]["name"] if found else None


ANOTHERS = {"namespace": "bar", "name": "foo"}
OURS = {"namespace": "myns", "name": "claim01"}
VOLUMES = [  # out of order, so that the order is found
    volume("gce-pd-10", "10G"),
    volume("gce-pd-20", "20G", claim=ANOTHERS),
    volume("nfs-5", "5G", SHARE),
    volume("gce-pd-1", "1G", claim=ANOTHERS),
    volume("nfs-10", "10G", SHARE),
    volume("gce-pd-5", "5G"),
    volume("nfs-1", "1G", SHARE),
    volume("gce-pd-2", "20000G", DISK, labels=LABELS),
    volume("gce-pd-silver1", "10000G", DISK, "silver", LABELS),
    volume("gce-pd-silver2", "100G", DISK, "silver"),
    volume("gce-pd-gold", "50G", DISK, "gold"),
]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (claim("8G"), "gce-pd-10"),
        (claim("5G", SHARE), "nfs-5"),
        (claim("1G"), "gce-pd-5"),
        (claim("999G"), None),
        (claim("999G", labels={"should-not-exist": "true"}), None),
        (claim("20000G", labels=LABELS), None),
        (claim("20000G", DISK, labels=LABELS), "gce-pd-2"),
        (claim("1G", DISK, "silver", LABELS), "gce-pd-silver1"),
        (claim("1G", DISK, "silver"), "gce-pd-silver2"),
    ],
    ids=["size", "modes", "skips-bound", "too-large", "labels", "modes-and-labels", "largest", "class-labels", "class"],
)
def test_the_smallest_that_satisfies_the_claim(wanted, expected):
    assert name(find(VOLUMES, wanted)) == expected


@pytest.mark.parametrize(
    ("modes", "taken", "expected"),
    [
        ((ONCE,), (), "ebs"),
        ((ONCE, READ), (), "gce"),
        ((MANY, ONCE, READ), (), "nfs"),
        ((MANY,), (), "nfs"),
        ((ONCE,), ("ebs",), "gce"),
        ((ONCE,), ("ebs", "gce"), "nfs"),
        ((READ,), ("ebs",), "gce"),
    ],
)
def test_volumes_with_fewer_access_modes_come_first(modes, taken, expected):
    sizes = {"nfs": ("1G", SHARE), "gce": ("5G", DISK_OR_READ), "ebs": ("10G", DISK)}
    volumes = [volume(each, *sizes[each], claim=ANOTHERS if each in taken else None) for each in sizes]

    assert name(find(volumes, claim("1G", modes))) == expected


@pytest.mark.parametrize(
    ("reserved", "expected"),
    [
        ({}, "pv1"),
        ({"pv1": ANOTHERS}, "pv5"),
        ({"pv8": OURS}, "pv8"),
        ({"bad-size": OURS}, "pv1"),
        ({"bad-mode": OURS}, "pv1"),
        ({"bad-volume-mode": OURS}, "pv1"),
    ],
    ids=["none", "another's", "ours", "too-small", "other-access", "other-mode"],
)
def test_a_reserved_volume_comes_first_if_it_satisfies_the_claim(reserved, expected):
    volumes = [
        volume("pv1", "1Gi", DISK, claim=reserved.get("pv1")),
        volume("pv5", "5Gi", DISK, claim=reserved.get("pv5")),
        volume("pv8", "8Gi", DISK, claim=reserved.get("pv8")),
        volume("bad-size", "1Mi", DISK, claim=reserved.get("bad-size")),
        volume("bad-mode", "1Gi", (READ,), claim=reserved.get("bad-mode")),
        volume("bad-volume-mode", "1Gi", DISK, claim=reserved.get("bad-volume-mode"), volumeMode="Block"),
    ]

    assert name(find(volumes, claim("1Gi", DISK))) == expected


@pytest.mark.parametrize(
    ("offered", "asked", "fits"),
    [(None, None, True), ("Block", None, False), (None, "Block", False), ("Block", "Block", True)],
)
def test_modes_must_be_the_same(offered, asked, fits):
    modes = [{"volumeMode": mode} if mode else {} for mode in (offered, asked)]

    found = find([volume("v", "1Gi", DISK, **modes[0])], claim("1Gi", DISK, **modes[1]))

    assert (found is not None) is fits


@pytest.mark.parametrize(
    ("kept", "phase", "fits"),
    [
        ({}, "Available", True),
        ({"deletionTimestamp": "2030-01-01T00:00:00Z"}, "Available", False),
        ({}, "Failed", False),
    ],
    ids=["free", "being-deleted", "failed"],
)
def test_only_free_volumes_that_stay_are_taken(kept, phase, fits):
    offered = volume("v", "1Gi", DISK)
    offered = {**offered, "metadata": offered["metadata"] | kept, "status": {"phase": phase}}

    assert (find([offered], claim("1Gi", DISK)) is not None) is fits


def test_free_volumes_are_left_to_the_scheduler_and_reserved_ones_are_not():
    volumes = [volume("free", "1Gi", DISK), volume("ours", "8Gi", DISK, claim=OURS)]

    assert name(find(volumes, claim("1Gi", DISK), prebound_only=True)) == "ours"
    assert find(volumes[:1], claim("1Gi", DISK), prebound_only=True) is None
