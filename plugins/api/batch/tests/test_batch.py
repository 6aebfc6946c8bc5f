"""The types of the group batch: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.batch.resources import BatchApi
from hyperkube_lib.protobuf import Protobuf
from hyperkube_testing.api import ApiContract

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {
    "metadata": {"name": "a"},
    "spec": {
        "schedule": "@daily",
        "suspend": False,
        "jobTemplate": {
            "metadata": {},
            "spec": {"template": {"metadata": {}, "spec": {"containers": None, "restartPolicy": "Never"}}},
        },
    },
    "status": {"lastScheduleTime": "2024-01-02T03:04:05Z"},
}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.batch.v1:CronJob")


def test_a_cronjob_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_cronjob_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_cronjob_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


class TestContract(ApiContract):
    plugin = BatchApi
