"""The warnings about NetworkPolicies."""

from hyperkube_api.networking.network_policies.strategy import NetworkPolicyStrategy

ODD = 'non-standard CIDR value "01.0.0.0/8" is invalid: use "1.0.0.0/8"'


def test_ranges_in_an_odd_form():
    block = {"ipBlock": {"cidr": "01.0.0.0/8", "except": ["1.1.0.0/16", "01.0.0.0/8"]}}
    spec = {"ingress": [{}, {"from": [{"podSelector": {}}, block]}], "egress": [{"to": [block]}]}

    assert NetworkPolicyStrategy().warnings(None, {"spec": spec}, None) == [
        f"spec.ingress[1].from[1].ipBlock.cidr: {ODD}",
        f"spec.ingress[1].from[1].ipBlock.except[1]: {ODD}",
        f"spec.egress[0].to[0].ipBlock.cidr: {ODD}",
        f"spec.egress[0].to[0].ipBlock.except[1]: {ODD}",
    ]
