"""The csrcleaner controller: a request goes when it is of no more use, not before."""

from base64 import b64encode

import pytest
from hyperkube_controller.csrcleaner import Csrcleaner
from hyperkube_lib.serving.certificates import issue, make_ca

from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.testing.contracts.controller import ControllerContract
from hyperkube.testing.controller_rig import ControllerRig

HOUR = 3600


def csr(*conditions, certificate=b""):
    rows = [{"type": kind, "status": "True", "lastUpdateTime": "2030-01-01T00:00:00Z"} for kind in conditions]
    status = {"conditions": rows} | ({"certificate": b64encode(certificate).decode()} if certificate else {})
    return {"kind": "CertificateSigningRequest", "metadata": {"name": "r"}, "spec": {}, "status": status}


def short_lived():
    clock = ControllerRig().clock
    clock.advance(-24 * HOUR + 600)
    return issue(make_ca("ca", clock=clock), "jane", client=True, days=1, clock=clock).certificate


class TestContract(ControllerContract):
    plugin = Csrcleaner

    def populate(self, rig):
        rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, csr("Denied"))
        rig.clock.advance(2 * HOUR)


@pytest.mark.parametrize(
    ("request_", "seconds"),
    [
        (csr(), 24 * HOUR),
        (csr("Denied"), HOUR),
        (csr("Approved", "Failed"), HOUR),
        (csr("Approved", certificate=b"another's"), HOUR),
    ],
    ids=["pending", "denied", "failed", "issued"],
)
def test_it_goes_when_its_time_is_over(request_, seconds):
    rig = ControllerRig(Csrcleaner)
    rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, request_)
    rig.settle()
    rig.advance(seconds - 10)
    before = rig.client.objects(CERTIFICATE_SIGNING_REQUESTS)

    rig.advance(11)

    assert before
    assert rig.client.objects(CERTIFICATE_SIGNING_REQUESTS) == []


def test_it_goes_with_its_certificate():
    rig = ControllerRig(Csrcleaner)
    rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, csr("Approved", certificate=short_lived()))
    rig.settle()

    rig.advance(601)

    assert rig.client.objects(CERTIFICATE_SIGNING_REQUESTS) == []


@pytest.mark.parametrize("condition", ["Approved", "example.com/Reviewed"])
def test_one_that_was_approved_or_looked_at_waits(condition):
    rig = ControllerRig(Csrcleaner)
    rig.client.seed(CERTIFICATE_SIGNING_REQUESTS, csr(condition))
    rig.settle()

    rig.advance(100 * HOUR)

    assert rig.client.objects(CERTIFICATE_SIGNING_REQUESTS)
