"""How the API server serves IPAddresses."""

from datetime import UTC, datetime

import pytest
from hyperkube_api.networking.ip_addresses import ip_address_cells, validate_ip_address_name, validate_ip_address_update

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
META = {"name": "a", "creationTimestamp": "2016-01-01T12:00:00Z"}


@pytest.mark.parametrize(
    ("parent", "shown"),
    [
        (None, "<none>"),
        ({"resource": "services", "namespace": "n", "name": "s"}, "services/n/s"),
        ({"group": "Gateway.networking.k8s.io", "resource": "Gateways", "name": "g"},
         "gateways.gateway.networking.k8s.io/g"),
    ],
)  # fmt: skip
def test_an_address_row_shows_whose_it_is(parent, shown):
    assert ip_address_cells({"metadata": META, "spec": {"parentRef": parent}}, NOW) == ["a", shown, "10y"]


def messages(errors):
    """Return the text of each error."""
    return [str(error) for error in errors]


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("1.2.3.4", []),
        ("01.2.3.4", ["must not have leading 0s"]),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("2001:DB8::1", ['must be in canonical form ("2001:db8::1")']),
    ],
)
def test_an_address_is_named_in_its_usual_form(name, texts):
    assert validate_ip_address_name(name) == texts


def test_an_address_stays_with_its_owner():
    old, new = ({"spec": {"parentRef": {"resource": "services", "name": name}}} for name in "ab")

    assert messages(validate_ip_address_update(new, old)) == [
        'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"","Name":"b"}: field is immutable'
    ]
