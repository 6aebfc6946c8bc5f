"""The validation of Ingresses."""

import pytest
from hyperkube_api.networking.ingresses.validation import validate_ingress


def messages(errors):
    """Return the text of each error."""
    return [str(error) for error in errors]


def an_ingress(annotation=None, tls=None, paths=None, host="a.b", **spec):
    path = {"path": "/", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}
    annotations = {} if annotation is None else {"kubernetes.io/ingress.class": annotation}
    rules = [{"host": host, "http": {"paths": [path] if paths is None else paths}}]
    return {"metadata": {"name": "i", "annotations": annotations}, "spec": {"rules": rules, "tls": tls or [], **spec}}


def test_the_class_that_is_named_twice_is_the_same():
    assert messages(validate_ingress(an_ingress(annotation="a", ingressClassName="b"))) == [
        (
            'annotations.kubernetes.io/ingress.class: Invalid value: "a": must match `ingressClassName` when both are '
            "specified"
        )
    ]
    assert validate_ingress(an_ingress(annotation="a", ingressClassName="b"), an_ingress()) == []


def test_an_address_is_no_host():
    first, second = validate_ingress(an_ingress(host="::1"))

    assert str(first) == 'spec.rules[0].host: Invalid value: "::1": must be a DNS name, not an IP address'
    assert second.path == "spec.rules[0].host"


@pytest.mark.parametrize("wrong", [{"tls": [{"secretName": "A_"}]}, {"host": "*.a.b", "paths": []}])
def test_an_ingress_that_is_stored_with_a_fault_may_keep_it(wrong):
    assert len(validate_ingress(an_ingress(**wrong))) == 1
    assert validate_ingress(an_ingress(**wrong), an_ingress(**wrong)) == []
