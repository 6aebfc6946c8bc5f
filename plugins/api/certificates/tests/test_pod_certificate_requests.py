"""Pod certificate requests: what they must name, and for how long they may ask."""

import pytest
from hyperkube_api.certificates.pod_certificate_requests import PodCertificateRequestStrategy, state

SPEC = {
    "signerName": "example.com/signer",
    "podName": "p",
    "podUID": "u1",
    "serviceAccountName": "default",
    "serviceAccountUID": "u2",
    "nodeName": "n",
    "nodeUID": "u3",
    "maxExpirationSeconds": 86400,
    "stubPKCS10Request": "AAAA",
}


def errors(**changed):
    spec = {key: value for key, value in {**SPEC, **changed}.items() if value is not None}
    return [str(error) for error in PodCertificateRequestStrategy().validate(None, {"spec": spec})]


def test_a_whole_request_is_fine():
    assert errors() == []


@pytest.mark.parametrize("member", ["podName", "podUID", "serviceAccountName", "nodeName", "nodeUID", "signerName"])
def test_what_is_missing_is_told(member):
    assert [text.partition(":")[0] for text in errors(**{member: None})] == [f"spec.{member}"]


@pytest.mark.parametrize(
    ("signer", "seconds", "bad"),
    [
        ("example.com/signer", 3599, True),
        ("example.com/signer", 3600, False),
        ("example.com/signer", 91 * 86400, False),
        ("example.com/signer", 91 * 86400 + 1, True),
        ("kubernetes.io/signer", 86400, False),
        ("kubernetes.io/signer", 86401, True),
    ],
)
def test_a_certificate_lives_an_hour_to_three_months_and_one_of_kubernetes_a_day(signer, seconds, bad):
    assert bool(errors(signerName=signer, maxExpirationSeconds=seconds)) is bad


def test_the_specification_never_changes():
    strategy = PodCertificateRequestStrategy()

    assert strategy.validate_update(None, {"spec": SPEC}, {"spec": SPEC}) == []
    assert strategy.validate_update(None, {"spec": {**SPEC, "podName": "q"}}, {"spec": SPEC})


def test_the_first_condition_that_holds_is_the_state():
    assert state({}) == "Pending"
    assert state({"status": {"conditions": [{"type": "Denied", "status": "True"}]}}) == "Denied"
