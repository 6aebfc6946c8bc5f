"""The types of the group storagemigration: one of them is decoded, and comes back from protobuf."""

import pytest
from hyperkube_api.storagemigration.storage_version_migrations import (
    StorageVersionMigrationStrategy,
    storage_version_migration_cells,
)
from hyperkube_lib.protobuf import Protobuf

from hyperkube.machinery.objects import copy_object
from hyperkube.machinery.schema import compile_schema

OBJECT = {"metadata": {"name": "a"}, "spec": {"resource": {"group": "apps", "resource": "deployments"}}, "status": {}}


@pytest.fixture
def schema():
    return compile_schema("hyperkube_api.storagemigration.v1beta1:StorageVersionMigration")


def test_a_storageversionmigration_is_decoded_as_it_is_written(schema):
    assert schema.decode(copy_object(OBJECT)) == (OBJECT, [])


def test_a_storageversionmigration_comes_back_from_protobuf(schema):
    codec = Protobuf()

    assert codec.read_message(codec.write_message(OBJECT, schema), schema) == OBJECT


def test_a_storageversionmigration_has_no_member_that_is_not_declared(schema):
    assert schema.decode({**copy_object(OBJECT), "nonsense": 1}) == (OBJECT, ['unknown field "nonsense"'])


def texts(errors):
    return [str(error) for error in errors]


def with_status(**status):
    return {"spec": {"resource": {"resource": "pods"}}, "status": status}


def test_a_migration_names_a_resource_for_ever():
    strategy = StorageVersionMigrationStrategy()
    pods, nodes = ({"spec": {"resource": {"resource": each}}} for each in ("pods", "nodes"))

    assert strategy.validate(None, pods) == strategy.validate_update(None, pods, pods) == []
    assert texts(strategy.validate(None, {"spec": {"resource": {}}})) == [
        "spec.resource.resource: Required value: resource is required"
    ]
    assert strategy.validate_update(None, nodes, pods)


def test_a_migration_does_not_both_succeed_and_fail():
    stamp = {"status": "True", "reason": "x", "message": "", "lastTransitionTime": "2030-01-01T00:00:00Z"}
    both = with_status(conditions=[{"type": "Succeeded", **stamp}, {"type": "Failed", **stamp}])

    (error,) = StorageVersionMigrationStrategy().validate_status_update(None, both, with_status())

    assert "cannot be true at the same time" in str(error)


def test_the_resource_version_is_a_number_that_stays():
    strategy = StorageVersionMigrationStrategy()

    assert strategy.validate_status_update(None, with_status(resourceVersion="7"), with_status()) == []
    assert strategy.validate_status_update(None, with_status(resourceVersion="x"), with_status())
    assert strategy.validate_status_update(None, with_status(resourceVersion="8"), with_status(resourceVersion="7"))


def test_a_row_names_the_resource_and_what_holds():
    obj = {
        "metadata": {"name": "m"},
        "spec": {"resource": {"group": "apps", "resource": "deployments"}},
        "status": {"conditions": [{"type": "Running", "status": "False"}, {"type": "Succeeded", "status": "True"}]},
    }

    assert storage_version_migration_cells(obj, None) == ["m", "deployments.apps", "Succeeded"]
