"""The warnings about endpoint slices."""

import pytest
from hyperkube_api.discovery.strategy import EndpointSliceStrategy

MANAGED_BY = "endpointslice.kubernetes.io/managed-by"
ODD = 'endpoints[1].addresses[0]: non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"'
NAMES = "spec.addressType: FQDN endpoints are deprecated"


@pytest.mark.parametrize(
    ("kind", "manager", "found"),
    [
        ("IPv4", None, [ODD]),
        ("IPv4", "somebody", [ODD]),
        ("IPv4", "endpointslice-controller.k8s.io", []),
        ("IPv4", "endpointslicemirroring-controller.k8s.io", []),
        ("FQDN", "endpointslice-controller.k8s.io", [NAMES]),
        ("FQDN", None, [NAMES, ODD]),
    ],
)
def test_names_and_addresses_in_an_odd_form(kind, manager, found):
    labels = {MANAGED_BY: manager} if manager else {}
    endpoints = [{"addresses": ["1.2.3.4"]}, {"addresses": ["01.2.3.4"]}]
    obj = {"metadata": {"labels": labels}, "addressType": kind, "endpoints": endpoints}

    assert EndpointSliceStrategy().warnings(None, obj, None) == found
    assert EndpointSliceStrategy().warnings(None, obj, obj) == [text for text in found if text != NAMES]
