"""Sizes of replica sets; the rows are those of upstream's ``rolling_test.go`` and ``sync_test.go``."""

from datetime import UTC, datetime

import pytest
from hyperkube_controller.deployment.facts import Observed, number_annotation, revision_annotation
from hyperkube_controller.deployment.scaling import (
    _replica_set_fraction,
    is_scaling_event,
    new_rs_new_replicas,
    reconcile_old_replica_sets,
    scale,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def replica_set(name, size, available=None, *, age=0, desired=None, most=None, image="old"):
    annotations = {}
    if desired is not None:
        annotations["deployment.kubernetes.io/desired-replicas"] = str(desired)
    if most is not None:
        annotations["deployment.kubernetes.io/max-replicas"] = str(most)
    created = f"2030-01-01T00:00:{59 - age:02}Z"
    return {
        "metadata": {"name": name, "annotations": annotations, "creationTimestamp": created},
        "spec": {"replicas": size, "template": {"spec": {"containers": [{"image": image}]}}},
        "status": {"replicas": size, "availableReplicas": size if available is None else available},
    }


def observed(wanted, *sets, surge=0, unavailable=0, kind="RollingUpdate", status=0):
    strategy = {"type": kind, "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}
    spec = {"replicas": wanted, "strategy": strategy, "template": {"spec": {"containers": [{"image": "new"}]}}}
    owner = {"metadata": {"name": "web"}, "spec": spec, "status": {"replicas": status}}
    return Observed(owner, sets, old_pods_left=False, now=NOW)


def new(size, available=None, **more):
    return replica_set("new", size, available, image="new", **more)


@pytest.mark.parametrize(
    ("wanted", "surge", "old", "size", "expected"),
    [
        pytest.param(10, 0, 10, 0, 0, id="no surge, no room"),
        pytest.param(10, 2, 10, 0, 2, id="as the surge allows"),
        pytest.param(10, 2, 5, 0, 7, id="and as is missing"),
        pytest.param(10, 2, 10, 2, 2, id="all room taken"),
        pytest.param(10, "10%", 9, 0, 2, id="a share is rounded up"),
        pytest.param(10, 100, 0, 0, 10, id="no more than wanted"),
    ],
)
def test_the_new_replica_set_grows(wanted, surge, old, size, expected):
    own = new(size)

    assert new_rs_new_replicas(observed(wanted, replica_set("old", old), own, surge=surge), own) == expected


def test_recreate_makes_all_at_once():
    assert new_rs_new_replicas(observed(7, kind="Recreate"), None) == 7


@pytest.mark.parametrize(
    ("wanted", "unavailable", "old", "own", "expected"),
    [
        pytest.param(10, 0, [(10, 10)], (0, 0), {}, id="none may be missed"),
        pytest.param(10, 2, [(10, 10)], (0, 0), {"a": 8}, id="as many as may be missed"),
        pytest.param(10, 2, [(10, 8)], (0, 0), {"a": 8}, id="those that are not available first"),
        pytest.param(10, 2, [(8, 8)], (0, 0), {}, id="no more"),
        pytest.param(10, 0, [(10, 10)], (2, 2), {"a": 8}, id="as many as there are new ones"),
        pytest.param(10, 0, [(10, 10)], (2, 0), {}, id="new ones that are available"),
        pytest.param(10, 2, [(8, 8)], (4, 0), {}, id="new ones that are not count as missed"),
        pytest.param(10, 0, [(5, 3), (5, 5)], (2, 2), {"a": 3}, id="unhealthy ones alone"),
        pytest.param(10, 3, [(2, 0), (4, 2), (6, 6)], (4, 3), {"a": 0, "b": 0, "c": 4}, id="unhealthy ones, then others"),
        pytest.param(2, 2, [(2, 2)], (0, 0), {"a": 0}, id="down to none"),
    ],
)  # fmt: skip
def test_old_replica_sets_shrink(wanted, unavailable, old, own, expected):
    sets = [
        replica_set(name, *sizes, age=9 - place) for place, (name, sizes) in enumerate(zip("abc", old, strict=False))
    ]
    latest = new(*own)

    assert (
        reconcile_old_replica_sets(observed(wanted, *sets, latest, surge=1, unavailable=unavailable), latest)
        == expected
    )


@pytest.mark.parametrize(
    ("before", "wanted", "sizes", "expected", "surge", "surge_before"),
    [
        pytest.param(10, 12, [10], [12], 0, 0, id="one alone grows"),
        pytest.param(10, 5, [10], [5], 0, 0, id="one alone shrinks"),
        pytest.param(5, 10, [2, 3], [4, 6], 0, 0, id="5 to 10"),
        pytest.param(5, 3, [2, 3], [1, 2], 0, 0, id="5 to 3"),
        pytest.param(9, 4, [8, 1], [4, 0], 0, 0, id="9 to 4"),
        pytest.param(7, 10, [2, 3, 2], [3, 4, 3], 0, 0, id="7 to 10"),
        pytest.param(13, 8, [2, 8, 3], [1, 5, 2], 0, 0, id="13 to 8"),
        pytest.param(3, 4, [1, 1, 1], [2, 1, 1], 0, 0, id="3 to 4: what is left goes to the newest"),
        pytest.param(3, 2, [1, 1, 1], [1, 1, 0], 0, 0, id="3 to 2: the oldest gives"),
        pytest.param(3, 1, [1, 1, 1], [1, 0, 0], 0, 0, id="3 to 1"),
        pytest.param(6, 6, [0, 0, 0], [6, 0, 0], 0, 0, id="from none"),
        pytest.param(10, 50, [5, 8], [22, 34], 6, 3, id="size and surge grow"),
        pytest.param(2, 2, [2, 1], [2, 1], 1, 1, id="a new one that is broken takes nothing from the old"),
        pytest.param(3, 0, [3, 0, 0], [0, 0, 0], 0, 0, id="to none, alone"),
        pytest.param(6, 0, [3, 2, 1], [0, 0, 0], 0, 0, id="to none"),
        pytest.param(10, 20, [6, 6], [11, 11], 2, 2, id="with a surge: 10 to 20"),
        pytest.param(10, 5, [8, 4], [4, 2], 1, 2, id="size and surge"),
    ],
)
def test_a_change_is_shared_in_proportion(before, wanted, sizes, expected, surge, surge_before):
    marks = {"desired": before, "most": before + surge_before}
    old = [replica_set(f"old{place}", size, age=place, **marks) for place, size in enumerate(sizes[1:], 1)]
    seen = observed(wanted, new(sizes[0], 0, **marks), *old, surge=surge, status=before)
    names = ["new", *(each["metadata"]["name"] for each in old)]

    found = scale(seen)

    assert [found.get(name, size) for name, size in zip(names, sizes, strict=True)] == expected


@pytest.mark.parametrize(
    ("before", "wanted", "sizes", "expected"),
    [
        pytest.param(4, 5, [2, 2], [3, 2], id="4 to 5"),
        pytest.param(10, 14, [7, 3], [10, 4], id="size and template"),
    ],
)
def test_without_a_new_one_the_old_share_it(before, wanted, sizes, expected):
    old = [replica_set(f"old{place}", size, age=place, desired=before, most=before) for place, size in enumerate(sizes)]

    found = scale(observed(wanted, *old, status=before))

    assert [found.get(each["metadata"]["name"], size) for each, size in zip(old, sizes, strict=True)] == expected


def test_an_update_that_failed_in_between_is_made_up_for():
    sets = [
        new(2, 0, desired=5, most=5),
        replica_set("old1", 1, age=1, desired=3, most=3),
        replica_set("old2", 1, age=2, desired=5, most=5),
    ]

    assert scale(observed(5, *sets, status=5)) == {"new": 2, "old1": 2, "old2": 1}


@pytest.mark.parametrize(
    ("wanted", "unavailable", "expected"),
    [
        (10, 5, 5), (10, 10, 10), (5, 10, 5), (0, 10, 0), (10, "50%", 5), (10, "100%", 10), (5, "100%", 5),
        (10, "39%", 3), (0, "0%", 0),
    ],
)  # fmt: skip
def test_no_more_may_be_missing_than_are_wanted(wanted, unavailable, expected):
    assert (
        observed(wanted, surge=1 if unavailable != "0%" else 0, unavailable=unavailable).resolve_fenceposts()[1]
        == expected
    )


def test_a_surge_rounds_up_and_recreate_has_none():
    assert observed(10, surge="39%", unavailable="39%").resolve_fenceposts() == (4, 3)
    assert observed(10, surge=3, unavailable=3, kind="Recreate").resolve_fenceposts() == (0, 0)


@pytest.mark.parametrize(
    ("kind", "wanted", "size", "surge", "expected"),
    [
        pytest.param("RollingUpdate", 1, 5, 1, 5, id="no room"),
        pytest.param("RollingUpdate", 6, 2, 10, 6, id="as many as wanted"),
        pytest.param("Recreate", 3, 1, 1, 3, id="recreate"),
    ],
)
def test_the_size_of_a_new_one(kind, wanted, size, surge, expected):
    latest = new(size)

    assert (
        new_rs_new_replicas(
            observed(wanted, latest, replica_set("old", 5), surge=surge, unavailable=1, kind=kind), latest
        )
        == expected
    )


def test_without_the_annotation_the_size_of_the_deployment_stands_for_it():
    assert scale(observed(10, new(2, 0), replica_set("old", 3, age=1), status=5)) == {"new": 4, "old": 6}


def test_without_any_size_nothing_changes_but_the_largest():
    assert scale(observed(10, new(2, 0), replica_set("old", 3, age=1), status=0)) == {"new": 2, "old": 8}


def test_when_the_new_one_is_saturated_the_old_ones_go():
    sets = [new(5, 5, desired=5), replica_set("old", 3, age=1)]

    assert scale(observed(5, *sets)) == {"old": 0}


def test_without_any_the_latest_grows():
    assert scale(observed(3, replica_set("a", 0, age=2), replica_set("b", 0, age=1))) == {"b": 3}


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([new(3, desired=3)], False),
        ([new(3, desired=2)], True),
        ([new(0, desired=2)], False),
        ([new(3)], False),
    ],
    ids=["as wanted", "another number", "an empty one does not count", "not said"],
)
def test_a_change_of_the_number_is_known_by_the_annotation(sets, expected):
    assert is_scaling_event(observed(3, *sets)) is expected


@pytest.mark.parametrize(
    ("wanted", "status", "surge", "size", "most", "expected"),
    [
        pytest.param(0, 0, 0, 10, None, -10, id="none is wanted"),
        pytest.param(10, 0, 0, 5, None, 0, id="never counted, the annotation is gone"),
        pytest.param(10, 0, 0, 5, 0, 0, id="never counted, the annotation is none"),
        pytest.param(120, 100, 0, 50, None, 10, id="a fifth more, the annotation is gone"),
        pytest.param(120, 100, 0, 50, 0, 10, id="a fifth more, the annotation is none"),
        pytest.param(120, 100, 0, 50, -1, 10, id="a fifth more, the annotation is no number of pods"),
        pytest.param(120, 0, 0, 50, 100, 10, id="a fifth more"),
        pytest.param(120, 0, 10, 50, 110, 9, id="a fifth more with a surge"),
        pytest.param(10, 0, 0, 6, 12, -1, id="a sixth less"),
        pytest.param(100, 0, 10, 50, 130, -8, id="a sixth less with a surge"),
    ],
)
def test_the_share_of_one_replica_set(wanted, status, surge, size, most, expected):
    rs = replica_set("rs", size, most=most)

    assert _replica_set_fraction(observed(wanted, rs, surge=surge, unavailable=1, status=status), rs, surge) == expected


@pytest.mark.parametrize(
    ("text", "count", "revision"),
    [
        ("", None, None), ("invalid", None, None), ("-1", None, -1), ("--1", None, None), ("+2", None, 2), ("\u00b2", None, None),
        ("0", 0, 0), ("13", 13, 13), ("2147483647", 2**31 - 1, 2**31 - 1), ("2147483648", None, 2**31),
        ("4294967296", None, 2**32), ("9223372036854775808", None, None),
    ],
)  # fmt: skip
def test_what_others_wrote_into_annotations(text, count, revision):
    obj = {"metadata": {"annotations": {"a": text}}}

    assert (number_annotation(obj, "a"), revision_annotation(obj, "a")) == (count, revision)
