"""Warnings for services."""

import pytest
from hyperkube_api.core.services.warnings import service_warnings

HINTS = "service.kubernetes.io/topology-aware-hints"
HEADLESS = {"type": "ClusterIP", "clusterIP": "None", "clusterIPs": ["None"]}
OUTSIDE = "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
ZEROS = 'non-standard IP address "01.2.3.4" is invalid: use "1.2.3.4"'


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({"type": "ClusterIP", "clusterIP": "10.0.0.1"}, []),
        ({**HEADLESS, "sessionAffinity": "None"}, []),
        (
            {**HEADLESS, "loadBalancerIP": "1.2.3.4", "externalIPs": ["1.2.3.4"], "sessionAffinity": "ClientIP"},
            ["spec.loadBalancerIP is ignored for headless services",
             "spec.externalIPs is ignored for headless services",
             "spec.SessionAffinity is ignored for headless services"],
        ),
        ({"type": "ExternalName", "externalName": "a.b"}, []),
        ({"type": "ExternalName", "externalName": "a.b", "sessionAffinity": "ClientIP"}, []),
        ({"type": "ExternalName", "externalIPs": ["1.2.3.4"]},
         ['spec.externalIPs is ignored when spec.type is "ExternalName"']),
        ({"type": "NodePort", "externalName": "a.b"},
         ['spec.externalName is ignored when spec.type is not "ExternalName"']),
        ({"type": "ClusterIP", "externalIPs": ["1.2.3.4"]}, [OUTSIDE]),
        ({"type": "ClusterIP", "externalIPs": ["01.2.3.4"]}, [f"spec.externalIPs[0]: {ZEROS}", OUTSIDE]),
        ({"clusterIP": "2001:db8::1", "clusterIPs": ["2001:db8::1", "01.2.3.4"]}, [f"spec.clusterIPs[1]: {ZEROS}"]),
        ({"type": "LoadBalancer", "loadBalancerIP": "01.2.3.4"}, [f"spec.loadBalancerIP: {ZEROS}"]),
        ({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.0/8", "01.0.0.0/8"]},
         ['spec.loadBalancerSourceRanges[1]: non-standard CIDR value "01.0.0.0/8" is invalid: use "1.0.0.0/8"']),
        ({"trafficDistribution": "PreferClose"},
         ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']),
        ({"trafficDistribution": "PreferSameZone"}, []),
    ],
)  # fmt: skip
def test_services(spec, found):
    assert service_warnings({"spec": spec}) == found


def test_a_service_with_hints_of_old():
    assert service_warnings({"metadata": {"annotations": {HINTS: "auto"}}}) == [
        f"annotation {HINTS} is deprecated, please use service.kubernetes.io/topology-mode instead"
    ]
