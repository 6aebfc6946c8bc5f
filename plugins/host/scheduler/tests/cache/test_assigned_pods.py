"""Placed pods are remembered small, and nothing that scheduling looks at is lost."""

import copy
import ctypes
import sys

import pytest
from hyperkube_host.scheduler.cache.assigned_pods import (
    FEW_PARTS,
    LAYOUTS,
    SHARED_PARTS,
    AssignedPodTransform,
    same_for_scheduling,
)

TEMPLATE = {
    "containers": [
        {"name": "c", "image": "i:1", "env": [{"name": "A", "value": "b"}], "resources": {"requests": {"cpu": "1"}},
         "ports": [{"containerPort": 80, "hostPort": 80}], "livenessProbe": {"periodSeconds": 1}},
    ],
    "dnsPolicy": "ClusterFirst",
    "nodeSelector": {"zone": "a"},
    "volumes": [{"name": "token", "projected": {"sources": []}}, {"name": "data", "persistentVolumeClaim": {"claimName": "x"}}],
}  # fmt: skip


def pod(name, node="n1", **status):
    meta = {
        "name": name,
        "namespace": "default",
        "uid": name,
        "labels": {"app": "a"},
        "managedFields": [{"manager": "m"}],
    }
    spec = copy.deepcopy(TEMPLATE)
    if node:
        spec["nodeName"] = node
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta, "spec": spec, "status": status}


def test_a_pending_pod_is_kept_whole_but_for_managed_fields():
    kept = AssignedPodTransform()(pod("a", node=""))

    assert kept["spec"] == TEMPLATE
    assert "managedFields" not in kept["metadata"]


def test_of_a_placed_pod_that_is_kept_which_scheduling_looks_at():
    conditions = [{"type": "DisruptionTarget", "status": "True"}]

    kept = AssignedPodTransform()(
        pod("a", phase="Running", podIP="10.0.0.1", conditions=conditions, containerStatuses=[{}])
    )

    assert kept == {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "a", "namespace": "default", "uid": "a", "labels": {"app": "a"}},
        "spec": {
            "containers": [
                {"name": "c", "image": "i:1", "ports": [{"containerPort": 80, "hostPort": 80}],
                 "resources": {"requests": {"cpu": "1"}}},
            ],
            "nodeSelector": {"zone": "a"},
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "x"}}],
            "nodeName": "n1",
        },
        "status": {"phase": "Running", "conditions": conditions},
    }  # fmt: skip


def test_making_it_small_again_changes_nothing():
    small = AssignedPodTransform()
    once = small(pod("a", phase="Running"))

    assert small(copy.deepcopy(once)) == once


def test_pods_of_one_template_share_its_parts():
    small = AssignedPodTransform()

    one, two = small(pod("a", phase="Running")), small(pod("b", node="n2", phase="Running"))

    assert one["spec"]["containers"] is two["spec"]["containers"]
    assert one["metadata"]["labels"] is two["metadata"]["labels"]
    assert one["status"] is two["status"]
    assert (one["spec"]["nodeName"], two["spec"]["nodeName"]) == ("n1", "n2")


def test_pods_share_their_tables_of_keys_and_are_plain_dicts():
    transform = AssignedPodTransform()

    kept = [transform(pod(f"p{index}", phase="Running")) for index in range(100)][-1]

    for part in (kept, kept["metadata"], kept["spec"]):
        assert type(part) is dict
        assert sys.getsizeof(part) < 0.7 * sys.getsizeof(dict(part.items()))
    kept["metadata"]["finalizers"] = ["late"]
    assert "finalizers" not in transform(pod("another"))["metadata"]


def test_sets_of_keys_that_are_shared_are_bounded():
    transform = AssignedPodTransform()

    for index in range(2 * LAYOUTS):
        one = pod("a")
        one["metadata"][f"key{index}"] = "x"
        assert transform(one)["metadata"][f"key{index}"] == "x"

    assert len(transform._layouts) == LAYOUTS


def test_what_is_remembered_for_sharing_is_bounded():
    small = AssignedPodTransform()
    template = small(pod("a"))["spec"]["containers"]
    for number in range(3 * SHARED_PARTS):
        small({"metadata": {"labels": {"app": str(number)}}, "spec": {"nodeName": "n1"}})
        if number % (FEW_PARTS // 2) == 0:
            assert small(pod("b"))["spec"]["containers"] is template

    assert len(small._parts) + len(small._earlier) <= 2 * SHARED_PARTS


@pytest.mark.parametrize(("stay", "most"), [(True, 2 * SHARED_PARTS), (False, 2 * FEW_PARTS)], ids=["stay", "go"])
def test_of_pods_that_go_few_parts_are_remembered(stay, most):
    small, pods = AssignedPodTransform(), []
    for number in range(4 * SHARED_PARTS):
        made = small({"metadata": {"labels": {"app": str(number)}}, "spec": {"nodeName": "n1"}})
        if stay:
            pods.append(made)

    count = len(small._parts) + len(small._earlier)
    assert most / 2 <= count <= most


def test_what_parts_are_known_by_takes_no_more_memory_than_it_needs():
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_usable_size"):
        pytest.skip("the C library does not tell how much memory it sets aside")
    libc.malloc_usable_size.restype, libc.malloc_usable_size.argtypes = ctypes.c_size_t, [ctypes.c_void_p]
    small = AssignedPodTransform()
    small({"metadata": {"annotations": {"text": "x" * 1000}}, "spec": {"nodeName": "n1"}})

    (key,) = (key for key in small._parts if len(key) > 1000)

    assert libc.malloc_usable_size(id(key)) < 1200


def test_parts_are_shared_anew_after_all_was_forgotten():
    small = AssignedPodTransform()
    before = small(pod("a"))["spec"]["containers"]

    small.forget()

    after = [small(pod(name))["spec"]["containers"] for name in ("b", "c")]
    assert after[0] is after[1] is not before
    assert after[0] == before


@pytest.mark.parametrize(("change", "same"), [
    pytest.param({"dnsPolicy": "Default"}, True, id="dns"),
    pytest.param({"nodeName": "n2"}, False, id="node"),
    pytest.param({"priority": 7}, False, id="priority"),
])  # fmt: skip
def test_specs_are_compared_by_what_scheduling_looks_at(change, same):
    whole = {**TEMPLATE, "nodeName": "n1"}
    small = AssignedPodTransform()(pod("a"))["spec"]

    assert same_for_scheduling(whole, small)
    assert same_for_scheduling({**whole, **change}, small) is same
