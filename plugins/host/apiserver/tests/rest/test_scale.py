"""Whose the replicas of a workload are after a write to its ``/scale``."""

import pytest
from hyperkube_host.apiserver.rest.scale import owners_in_scale, owners_in_workload
from hyperkube_lib.structured_merge import field_sets

PLACE = field_sets.from_paths([("spec", "replicas")])
REPLICAS = {"f:spec": {"f:replicas": {}}}


def entry(fields, *, manager="kubectl", operation="Update", subresource="scale"):
    """Return an entry of ``managedFields``."""
    return {
        "manager": manager,
        "operation": operation,
        "apiVersion": "apps/v1",
        "time": "2026-01-02T03:04:05Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
        "subresource": subresource,
    }


def owners_of_replicas(*entries):
    """Return who owns the replicas after a write of ``/scale`` that leaves its owners as they were."""
    workload = {"apiVersion": "apps/v1", "metadata": {"managedFields": list(entries)}}
    managed = owners_in_workload(workload, PLACE, owners_in_scale(workload, PLACE, "autoscaling/v1"))
    return {
        (owner.manager, owner.operation, owner.api_version)
        for owner, owned in managed.items()
        if field_sets.intersection(owned.fields, PLACE)
    }


@pytest.mark.parametrize("operation", ["Update", "Apply"])
def test_who_sets_the_replicas_to_what_they_are_keeps_them(operation):
    version = "apps/v1" if operation == "Update" else ""

    assert owners_of_replicas(entry(REPLICAS, operation=operation)) == {("kubectl", operation, version)}


def test_other_fields_stay_with_their_owner():
    labels = entry({"f:metadata": {"f:labels": {"f:a": {}}}}, manager="helm", subresource="")

    assert owners_of_replicas(labels, entry(REPLICAS)) == {("kubectl", "Update", "apps/v1")}
