"""What follows from what is known of a source, its request and the time."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hyperkube_host.kubelet.podcertificate.credentials import Credentials, Issued, Requested, decide

from hyperkube.hookspecs.volume import VolumeFailed
from hyperkube.machinery.times import format_time

NOW = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
JITTER = timedelta(seconds=90)
REQUESTED = Requested(private_key=b"new key", name="req-1", abandon_at=NOW + 10 * MINUTE)
ISSUED = Issued(private_key=b"key", chain=b"chain", begin_refresh_at=NOW + 60 * MINUTE, not_after=NOW + 120 * MINUTE)
FRESH, WAITING = Credentials(issued=ISSUED), Credentials(requested=REQUESTED)


def look(known, request=None, now=NOW):
    return decide(known, request, "ns/req-1", now, JITTER)


def answered(kind, **status):
    condition = {"type": kind, "status": "True", "reason": "R", "message": "because"}
    return {"metadata": {"namespace": "ns", "name": "req-1"}, "status": {"conditions": [condition], **status}}


CERTIFIED = answered(
    "Issued",
    certificateChain="",
    beginRefreshAt=format_time(NOW + 10 * MINUTE),
    notAfter=format_time(NOW + 20 * MINUTE),
)


def test_a_new_source_requests_a_certificate():
    assert look(Credentials()).request


def test_a_request_that_is_not_seen_is_waited_for_and_then_taken_for_deleted():
    early, late = look(WAITING), look(WAITING, now=NOW + 11 * MINUTE)

    assert early.credentials == WAITING
    assert early.problem.endswith('podcertificaterequest.certificates.k8s.io "req-1" not found')
    assert late.credentials == Credentials()
    assert late.problem == 'PodCertificateRequest "ns/req-1" appears to have been deleted'


def test_a_request_without_an_answer_is_waited_for():
    step = look(WAITING, {"status": {}})

    assert (step.credentials, step.request, step.events, step.problem) == (WAITING, False, (), "")


def test_a_certificate_is_taken_with_the_key_it_was_requested_for():
    issued = look(WAITING, CERTIFIED).credentials.issued

    assert issued.private_key == b"new key"
    assert issued.begin_refresh_at == NOW + 10 * MINUTE + JITTER


@pytest.mark.parametrize(("kind", "word"), [("Denied", "was denied"), ("Failed", "failed")])
@pytest.mark.parametrize("known", [WAITING, replace(FRESH, requested=REQUESTED)], ids=["first", "refresh"])
def test_a_refusal_is_told_once_and_for_good(known, kind, word):
    step = look(known, answered(kind))

    (event,) = step.events
    assert event.reason == kind
    assert event.message == f'PodCertificateRequest ns/req-1 {word}, reason="R", message="because"'
    after = look(step.credentials, now=NOW + timedelta(days=1))
    assert (after.events, after.request, after.credentials) == ((), False, step.credentials)
    with pytest.raises(VolumeFailed, match=f'permanently {kind.lower()}: reason="R" message="because"'):
        after.credentials.bundle()


def test_a_certificate_is_refreshed_when_it_is_time_and_used_until_the_next_is_there():
    assert not look(FRESH, now=NOW + 59 * MINUTE).request
    assert look(FRESH, now=NOW + 60 * MINUTE).request

    refreshing = replace(FRESH, requested=REQUESTED)
    assert refreshing.bundle() == (b"key", b"chain")
    assert look(refreshing, CERTIFIED).credentials.bundle()[0] == b"new key"


def test_a_deleted_refresh_is_requested_anew_and_the_certificate_kept():
    step = look(replace(FRESH, requested=REQUESTED), now=NOW + 61 * MINUTE)

    assert step.credentials == FRESH
    assert look(step.credentials, now=NOW + 61 * MINUTE).request


@pytest.mark.parametrize("requested", [None, REQUESTED], ids=["cannot-be-requested", "waits"])
def test_a_late_refresh_and_an_expiry_are_told_once_each(requested):
    known = replace(FRESH, requested=requested)
    pending = {"status": {}} if requested else None
    told = []
    for minutes in (65, 71, 72, 121, 122):
        step = look(known, pending, now=NOW + minutes * MINUTE)
        known = step.credentials
        told += [(minutes, event.reason, event.message) for event in step.events]

    assert told == [
        (71, "CertificateOverdueForRefresh", "PodCertificate refresh overdue"),
        (121, "CertificateExpired", "PodCertificate expired"),
    ]


@pytest.mark.parametrize(
    ("known", "minutes", "state"),
    [
        (Credentials(), 0, "not_yet_issued"),
        (WAITING, 0, "not_yet_issued"),
        (FRESH, 70, "fresh"),
        (FRESH, 71, "overdue_for_refresh"),
        (FRESH, 121, "expired"),
        (look(WAITING, answered("Denied")).credentials, 0, "denied"),
        (look(WAITING, answered("Failed")).credentials, 0, "failed"),
    ],
)
def test_the_metric_names_the_state(known, minutes, state):
    assert known.metrics_state(NOW + minutes * MINUTE) == state


def test_keys_are_not_shown():
    assert "key'" not in repr(replace(FRESH, requested=REQUESTED))
