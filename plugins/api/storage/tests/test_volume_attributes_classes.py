"""The table rows of VolumeAttributesClasses."""

from datetime import UTC, datetime

from hyperkube_api.storage.volume_attributes_classes import volume_attributes_class_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


def test_an_attributes_class_row():
    assert volume_attributes_class_cells({"metadata": META, "driverName": "d"}, NOW) == ["a", "d", "5m"]
