"""What a merge patch does not name is not decoded again; what comes of it is as if all had been."""

from copy import deepcopy

import pytest
from hyperkube_host.apiserver.rest import untouched

from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.machinery.schema import DecodeError, compile_schema

pytest.importorskip("hyperkube_api.core.v1", reason="patches a pod")
pytest.importorskip("hyperkube_api.apps.v1", reason="patches a deployment")

MANAGED = {
    "manager": "m",
    "operation": "Update",
    "apiVersion": "v1",
    "time": "2030-01-01T00:00:00Z",
    "fieldsType": "FieldsV1",
    "fieldsV1": {"f:metadata": {"f:labels": {}}},
}
META = {"name": "p", "uid": "u", "labels": {"a": "b"}, "annotations": {"x": "y"}, "managedFields": [MANAGED]}
POD = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": META,
    "spec": {"containers": [{"name": "c", "image": "i"}]},
    "status": {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}],
    },
}
PATCHES = {
    "a label": {"metadata": {"labels": {"z": "1"}}},
    "no label": {"metadata": {"labels": None}},
    "no metadata": {"metadata": None},
    "metadata that is none": {"metadata": 5},
    "labels that are none": {"metadata": {"labels": ["a"]}},
    "a member that does not exist": {"metadata": {"nonsense": 1, "labels": {"z": "1"}}},
    "a finalizer that was not there": {"metadata": {"finalizers": ["example.com/x"]}},
    "two that are wrong": {"spec": [], "metadata": {"uid": 5}},
    "a status": {"status": {"phase": "Failed"}},
    "a status that was not there": {"status": {"podIP": "10.0.0.1", "podIPs": [{"ip": "10.0.0.1"}]}},
    "a status that is wrong": {"status": {"phase": 5}},
    "a status with what does not exist": {"status": {"nonsense": 1, "reason": "r"}},
    "a status that goes": {"status": {"phase": None, "conditions": None}},
    "a status and metadata": {"metadata": {"uid": "v"}, "status": {"message": "m"}},
    "a specification": {"spec": {"nodeName": "n", "containers": [{"name": "d", "image": "i"}]}},
    "a directive": {"status": {"$setElementOrder/conditions": [{"type": "Ready"}], "phase": "Failed"}},
    "a directive about all": {"status": {"$patch": "replace", "phase": "Failed"}},
    "nothing": {},
}


def decoded(schema, document, kept):
    try:
        obj, unknown = untouched.decoded(schema, deepcopy(document), deepcopy(kept), report=True)
    except DecodeError as error:
        return str(error)
    return schema.canonical(obj), unknown


@pytest.mark.parametrize("patch", [pytest.param(patch, id=name) for name, patch in PATCHES.items()])
def test_it_is_as_if_all_had_been_decoded(patch):
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))
    document = apply_merge_patch(deepcopy(old), patch)

    kept = untouched.untouched(patch, document, old, schema)

    assert decoded(schema, document, kept) == decoded(schema, document, untouched.NOTHING)


@pytest.mark.parametrize(
    ("patch", "within"),
    [
        ({"status": {"phase": "Failed"}}, {"status": ["conditions"]}),
        ({"status": {"$setElementOrder/conditions": [], "phase": "Failed"}}, {"status": []}),
        ({"status": {"$retainKeys": ["phase"]}}, {}),
        ({"metadata": {"labels": {"x": "y"}}}, {"metadata": ["name", "uid", "annotations", "managedFields"]}),
    ],
)
def test_of_a_member_that_is_named_the_others_are_kept(patch, within):
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))

    kept = untouched.untouched(patch, apply_merge_patch(old, patch), old, schema)

    assert {name: list(members) for name, members in kept.within.items()} == within


def test_what_is_kept_of_a_member_is_the_objects_own():
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))
    patch = {"status": {"phase": "Failed"}}
    document = apply_merge_patch(old, patch)

    obj, _ = untouched.decoded(schema, document, untouched.untouched(patch, document, old, schema), report=True)

    assert obj["status"]["conditions"] == old["status"]["conditions"]
    assert obj["status"]["conditions"] is not old["status"]["conditions"]


@pytest.mark.parametrize("named", [{}, {"metadata": {"uid": "u"}}, {"metadata": {"labels": {"x": "y"}}}])
def test_metadata_is_the_objects_own_but_for_managed_fields(named):
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))
    patch = {"status": {"phase": "Failed"}, **named}
    document = apply_merge_patch(old, patch)

    obj, _ = untouched.decoded(schema, document, untouched.untouched(patch, document, old, schema), report=True)

    assert obj["metadata"] is not old["metadata"]
    assert obj["metadata"]["annotations"] is not old["metadata"]["annotations"]
    assert obj["metadata"]["managedFields"] is old["metadata"]["managedFields"]


@pytest.mark.parametrize("replicas", [True, 1.0, 2])
def test_a_member_that_is_only_alike_is_decoded(replicas):
    schema = compile_schema("hyperkube_api.apps.v1:Deployment")
    old = schema.canonical({"kind": "Deployment", "apiVersion": "apps/v1", "spec": {"replicas": 1, "paused": True}})
    patch = {"spec": {"replicas": replicas}}

    kept = untouched.untouched(patch, apply_merge_patch(old, patch), old, schema)

    assert "spec" not in kept.whole


def test_a_member_that_is_named_as_it_is_is_not_decoded():
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))
    patch = {"metadata": {"uid": "u"}, "status": {"phase": "Failed"}}

    kept = untouched.untouched(patch, apply_merge_patch(old, patch), old, schema)

    assert kept.whole.keys() == {"kind", "apiVersion", "metadata", "spec"}
    assert kept.within.keys() == {"status"}
