"""The rows of storage in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage.csi_drivers import csi_driver_cells
from hyperkube_api.storage.csi_nodes import csi_node_cells
from hyperkube_api.storage.csi_storage_capacities import csi_storage_capacity_cells
from hyperkube_api.storage.storage_classes import storage_class_cells
from hyperkube_api.storage.volume_attachments import volume_attachment_cells
from hyperkube_api.storage.volume_attributes_classes import volume_attributes_class_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ({}, ["Delete", "Immediate", False]),
        ({"reclaimPolicy": "Retain"}, ["Retain", "Immediate", False]),
        (
            {"volumeBindingMode": "WaitForFirstConsumer", "allowVolumeExpansion": True},
            ["Delete", "WaitForFirstConsumer", True],
        ),
    ],
    ids=["least", "retained", "late"],
)
def test_a_class_row(more, shown):
    assert storage_class_cells({"metadata": META, "provisioner": "p", **more}, NOW) == ["a", "p", *shown, "5m"]


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("storageclass.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.beta.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.kubernetes.io/is-default-class", "false", "a"),
    ],
)
def test_the_default_class_says_so(key, value, shown):
    assert storage_class_cells({"metadata": {**META, "annotations": {key: value}}}, NOW)[0] == shown


def test_an_attributes_class_row():
    assert volume_attributes_class_cells({"metadata": META, "driverName": "d"}, NOW) == ["a", "d", "5m"]


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({}, [True, False, False, "<unset>", False, "<none>"]),
        (
            {
                "attachRequired": False,
                "podInfoOnMount": True,
                "storageCapacity": True,
                "tokenRequests": [{"audience": "x"}, {"audience": ""}, {"audience": "y"}],
                "requiresRepublish": True,
                "volumeLifecycleModes": ["Ephemeral", "Persistent"],
            },
            [False, True, True, "x,,y", True, "Ephemeral,Persistent"],
        ),
    ],
    ids=["least", "rich"],
)
def test_a_driver_row(spec, shown):
    assert csi_driver_cells({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "5m"]


@pytest.mark.parametrize("drivers", [None, [{}, {}]])
def test_a_node_row_counts_drivers(drivers):
    assert csi_node_cells({"metadata": META, "spec": {"drivers": drivers}}, NOW) == ["a", len(drivers or ()), "5m"]


def test_a_capacity_row_shows_when_it_was_made():
    assert csi_storage_capacity_cells({"metadata": META}, NOW) == ["a", "2026-01-01T11:55:00Z"]


@pytest.mark.parametrize(
    ("source", "status", "shown"),
    [
        ({}, {}, ["", "n", False]),
        ({"persistentVolumeName": "pv"}, {"attached": True}, ["pv", "n", True]),
        ({"inlineVolumeSpec": {}}, {"attached": False}, ["", "n", False]),
    ],
    ids=["new", "attached", "inline"],
)
def test_an_attachment_row(source, status, shown):
    obj = {"metadata": META, "spec": {"attacher": "d", "nodeName": "n", "source": source}, "status": status}

    assert volume_attachment_cells(obj, NOW) == ["a", "d", *shown, "5m"]
