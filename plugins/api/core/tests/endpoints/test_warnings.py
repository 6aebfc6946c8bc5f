"""Warnings for endpoints."""

import pytest
from hyperkube_api.core.endpoints.strategy import EndpointsStrategy

ZEROS = 'non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"'


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        ({}, [f"subsets[0].addresses[1].ip: {ZEROS}", f"subsets[0].notReadyAddresses[0].ip: {ZEROS}"]),
        ({"endpoints.kubernetes.io/managed-by": "endpoint-controller"}, []),
    ],
    ids=["by-hand", "by-the-controller"],
)
def test_endpoints(labels, found):
    bad = {"ip": "01.2.3.4"}
    subset = {"addresses": [{"ip": "1.2.3.4"}, bad], "notReadyAddresses": [bad]}
    obj = {"metadata": {"labels": labels}, "subsets": [subset]}

    assert EndpointsStrategy().warnings(None, obj, None) == found
