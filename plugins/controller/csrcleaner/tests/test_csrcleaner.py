"""The csrcleaner controller: a request goes when it is of no more use, not before."""

from base64 import b64encode
from datetime import timedelta

import pytest
from hyperkube_controller.csrcleaner import Csrcleaner, decide
from hyperkube_lib.serving.certificates import issue, make_ca

from hyperkube.client.actions import Delete
from hyperkube.kinds.resources import CERTIFICATE_SIGNING_REQUESTS
from hyperkube.machinery.times import format_time
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


def aged(*rows, certificate=b"", created=1):
    """Return a request made so many minutes ago; rows are (condition, minutes ago)."""
    conditions = [{"type": kind, "status": "True", "lastUpdateTime": minutes_ago(age)} for kind, age in rows]
    given = csr(certificate=certificate)
    return {
        **given,
        "metadata": {"name": "r", "creationTimestamp": minutes_ago(created)},
        "status": {**given["status"], "conditions": conditions},
    }


def minutes_ago(minutes):
    return format_time(ControllerRig().clock.now() - timedelta(minutes=minutes))


OLD, YOUNG, DAY = 120, 50, 24 * 60


@pytest.mark.parametrize(
    ("given", "goes"),
    [
        (aged(("Approved", YOUNG), certificate=b"good"), False),
        (aged(("Approved", YOUNG)), False),
        (aged(("Approved", OLD)), False),
        (aged(("Approved", OLD), certificate=b"good"), True),
        (aged(("Denied", YOUNG)), False),
        (aged(("Denied", OLD)), True),
        (aged(("Approved", OLD), ("Failed", YOUNG)), False),
        (aged(("Approved", OLD), ("Failed", OLD)), True),
        (aged(created=5 * 60), False),
        (aged(created=DAY + 60), True),
    ],
)
def test_which_requests_go_at_once(given, goes):
    actions = decide(given, ControllerRig().clock.now())

    assert any(isinstance(action, Delete) for action in actions) is goes
