"""The rows of storage in tables."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage import tables

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
    assert tables.storage_class({"metadata": META, "provisioner": "p", **more}, NOW) == ["a", "p", *shown, "5m"]


@pytest.mark.parametrize(
    ("key", "value", "shown"),
    [
        ("storageclass.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.beta.kubernetes.io/is-default-class", "true", "a (default)"),
        ("storageclass.kubernetes.io/is-default-class", "false", "a"),
    ],
)
def test_the_default_class_says_so(key, value, shown):
    assert tables.storage_class({"metadata": {**META, "annotations": {key: value}}}, NOW)[0] == shown


def test_an_attributes_class_row():
    assert tables.volume_attributes_class({"metadata": META, "driverName": "d"}, NOW) == ["a", "d", "5m"]


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
    assert tables.csi_driver({"metadata": META, "spec": spec}, NOW) == ["a", *shown, "5m"]


@pytest.mark.parametrize("drivers", [None, [{}, {}]])
def test_a_node_row_counts_drivers(drivers):
    assert tables.csi_node({"metadata": META, "spec": {"drivers": drivers}}, NOW) == ["a", len(drivers or ()), "5m"]


def test_a_capacity_row_shows_when_it_was_made():
    assert tables.csi_storage_capacity({"metadata": META}, NOW) == ["a", "2026-01-01T11:55:00Z"]


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

    assert tables.volume_attachment(obj, NOW) == ["a", "d", *shown, "5m"]
