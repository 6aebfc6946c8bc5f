"""What ingresses and network policies are warned of."""

import pytest
from hyperkube_api.networking.ingresses.strategy import IngressStrategy
from hyperkube_api.networking.network_policies.strategy import NetworkPolicyStrategy

CLASS = "kubernetes.io/ingress.class"
ODD = 'non-standard CIDR value "01.0.0.0/8" is invalid: use "1.0.0.0/8"'


@pytest.mark.parametrize(
    ("annotations", "name", "is_warned"), [({CLASS: "x"}, None, True), ({CLASS: "x"}, "c", False), ({}, None, False)]
)
def test_a_new_ingress_that_names_its_class_the_old_way(annotations, name, is_warned):
    obj = {"metadata": {"annotations": annotations}, "spec": {"ingressClassName": name}}
    text = f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"

    assert IngressStrategy().warnings(None, obj, None) == ([text] if is_warned else [])
    assert IngressStrategy().warnings(None, obj, {"metadata": {}, "spec": {}}) == []


def test_ranges_in_an_odd_form():
    block = {"ipBlock": {"cidr": "01.0.0.0/8", "except": ["1.1.0.0/16", "01.0.0.0/8"]}}
    spec = {"ingress": [{}, {"from": [{"podSelector": {}}, block]}], "egress": [{"to": [block]}]}

    assert NetworkPolicyStrategy().warnings(None, {"spec": spec}, None) == [
        f"spec.ingress[1].from[1].ipBlock.cidr: {ODD}",
        f"spec.ingress[1].from[1].ipBlock.except[1]: {ODD}",
        f"spec.egress[0].to[0].ipBlock.cidr: {ODD}",
        f"spec.egress[0].to[0].ipBlock.except[1]: {ODD}",
    ]
