"""The table rows of IngressClasses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.ingress_classes import ingress_class_cells

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("parameters", "shown"),
    [
        (None, "<none>"),
        ({"kind": "K", "name": "n"}, "K/n"),
        ({"apiGroup": "e.com", "kind": "K", "name": "n"}, "K.e.com/n"),
    ],
)
def test_an_ingress_class_row(parameters, shown):
    obj = {"metadata": META, "spec": {"controller": "e.com/c", "parameters": parameters}}

    assert ingress_class_cells(obj, NOW) == ["a", "e.com/c", shown, "10y"]
