"""The types of the group admission: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_lib.protobuf import Protobuf

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "request": {
        "uid": "u",
        "kind": {"group": "", "version": "v1", "kind": "Pod"},
        "resource": {"group": "", "version": "v1", "resource": "pods"},
        "operation": "CREATE",
        "userInfo": {},
        "object": {"a": 1},
        "oldObject": None,
        "options": None,
    }
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.admission.v1:AdmissionReview")


def test_an_admissionreview_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_an_admissionreview_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_an_admissionreview_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])
