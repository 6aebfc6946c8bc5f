"""Warnings for nodes, and for what selects them by deprecated labels."""

import pytest
from hyperkube_api.core.nodes.deprecated_labels import label_selector_warnings
from hyperkube_api.core.nodes.warnings import node_warnings

from hyperkube.machinery.field import ROOT

AT = ROOT.child("at")


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        ({}, []),
        ({"configSource": {}}, ["spec.configSource: the feature is removed"]),
        ({"externalID": "x"}, ["spec.externalID: this field is deprecated, and is unused by Kubernetes"]),
        ({"podCIDRs": ["10.0.0.0/24", "01.0.0.0/24"]},
         ['spec.podCIDRs[1]: non-standard CIDR value "01.0.0.0/24" is invalid: use "1.0.0.0/24"']),
    ],
)  # fmt: skip
def test_nodes(spec, found):
    assert node_warnings({"spec": spec}) == found


ZONE = {"matchExpressions": [{"key": "foo"}, {"key": "failure-domain.beta.kubernetes.io/zone", "values": ["-1"]}]}


def test_label_selectors_of_nodes():
    selector = {"matchLabels": {"beta.kubernetes.io/os": "x", "foo": "y"}, **ZONE}

    assert label_selector_warnings(AT, selector) == [
        (
            "at.matchExpressions[1].key: failure-domain.beta.kubernetes.io/zone is "
            'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
        ),
        'at.matchLabels.beta.kubernetes.io/os: deprecated since v1.14; use "kubernetes.io/os" instead',
    ]
    assert label_selector_warnings(AT, None) == []
