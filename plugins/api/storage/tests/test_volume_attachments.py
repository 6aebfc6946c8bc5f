"""The table rows of VolumeAttachments."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.storage.volume_attachments import volume_attachment_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2026-01-01T11:55:00Z"}


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
