"""The warnings about Ingresses."""

import pytest
from hyperkube_api.networking.ingresses.strategy import IngressStrategy

CLASS = "kubernetes.io/ingress.class"


@pytest.mark.parametrize(
    ("annotations", "name", "is_warned"), [({CLASS: "x"}, None, True), ({CLASS: "x"}, "c", False), ({}, None, False)]
)
def test_a_new_ingress_that_names_its_class_the_old_way(annotations, name, is_warned):
    obj = {"metadata": {"annotations": annotations}, "spec": {"ingressClassName": name}}
    text = f"annotation \"{CLASS}\" is deprecated, please use 'spec.ingressClassName' instead"

    assert IngressStrategy().warnings(None, obj, None) == ([text] if is_warned else [])
    assert IngressStrategy().warnings(None, obj, {"metadata": {}, "spec": {}}) == []
