"""What a merge patch does not name is not decoded again; what comes of it is as if all had been."""

from copy import deepcopy

import pytest
from hyperkube_host.apiserver.rest.patch import _decoded, _untouched

from hyperkube.machinery.patch.merge import apply_merge_patch
from hyperkube.machinery.schema import DecodeError, compile_schema

pytest.importorskip("hyperkube_api.core.v1", reason="patches a pod")

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
    "status": {"phase": "Running"},
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
    "nothing": {},
}


def decoded(schema, document, kept):
    try:
        obj, unknown = _decoded(schema, deepcopy(document), deepcopy(kept), report=True)
    except DecodeError as error:
        return str(error)
    return schema.canonical(obj), unknown


@pytest.mark.parametrize("patch", [pytest.param(patch, id=name) for name, patch in PATCHES.items()])
def test_it_is_as_if_all_had_been_decoded(patch):
    schema = compile_schema("hyperkube_api.core.v1:Pod")
    old = schema.canonical(deepcopy(POD))
    document = apply_merge_patch(deepcopy(old), patch)

    assert decoded(schema, document, _untouched(patch, document, old)) == decoded(schema, document, {})
