"""The types of the group internal: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.internal.storage_versions import StorageVersionStrategy
from hyperkube_lib.protobuf import Protobuf

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {"metadata": {"name": "a"}, "spec": {}, "status": {}}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.internal.v1alpha1:StorageVersion")


def test_a_storageversion_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_storageversion_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_storageversion_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def storage_version(common=None, **servers):
    rows = [
        {"apiServerID": name, "encodingVersion": version, "decodableVersions": ["v1"]}
        for name, version in servers.items()
    ]
    status = {"storageVersions": rows} | ({"commonEncodingVersion": common} if common else {})
    return {"metadata": {"name": "a.b", "creationTimestamp": "2030-01-01T00:00:00Z"}, "status": status}


@pytest.mark.parametrize(
    ("obj", "fields"),
    [
        (storage_version("v1", a="v1", b="v1"), []),
        (storage_version(), []),
        (storage_version("v1"), ["status.commonEncodingVersion"]),
        (storage_version(a="v1"), ["status.commonEncodingVersion"]),
        (storage_version("v2", a="v2"), ["status.storageVersions[0].decodableVersions"]),
    ],
    ids=["agreed", "none", "said-of-none", "not-said", "not-decodable"],
)
def test_the_common_version_is_that_of_all_servers(obj, fields):
    errors = StorageVersionStrategy().validate_status_update(None, obj, obj)

    assert [str(error).partition(":")[0] for error in errors] == fields
