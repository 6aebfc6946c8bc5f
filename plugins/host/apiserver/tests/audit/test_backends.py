import logging

import pytest
from hyperkube_host.apiserver.audit.backends import AuditFailed, Batching, WebhookBackend, legacy_line
from hyperkube_lib.webhooks.review import ReviewClient
from hyperkube_testing.peers.peer import Failure, Peer

from hyperkube.machinery.clock import SystemClock

LOGGER = logging.getLogger("test")


class Kept:
    def __init__(self, *, fails=False):
        self.batches, self.closed, self.fails = [], False, fails

    def keep(self, events):
        if self.fails:
            raise AuditFailed("no room")
        self.batches.append(list(events))

    def close(self):
        self.closed = True


def batching(inner, **more):
    return Batching(inner, SystemClock(), LOGGER, **{"buffer": 100, "size": 3, "wait": 60.0, **more})


def events(count):
    return [{"auditID": str(index)} for index in range(count)]


def test_nothing_is_lost_at_the_end_and_order_is_kept():
    inner = Kept()
    batches = batching(inner)

    batches.keep(events(7))
    batches.close()

    assert [event for batch in inner.batches for event in batch] == events(7)
    assert [len(batch) for batch in inner.batches] == [3, 3, 1]
    assert inner.closed


def test_what_a_full_buffer_loses_is_logged(caplog):
    inner = Kept()
    batches = batching(inner, buffer=2, size=10)

    batches.keep(events(5))
    batches.close()

    assert inner.batches == [events(2)]
    assert "3 events are lost" in caplog.text


def test_a_failing_backend_is_logged(caplog):
    batches = batching(Kept(fails=True))

    batches.keep(events(1))
    batches.close()

    assert "no room" in caplog.text


@pytest.fixture
def peer(tmp_path):
    with Peer(tmp_path) as peer:
        yield peer


def webhook(peer):
    return WebhookBackend(ReviewClient(peer.kubeconfig("/audit"), SystemClock(), attempts=2, first_wait=0.001))


def test_a_webhook_gets_a_list(peer):
    peer.answers["/audit"] = lambda _body: {}
    backend = webhook(peer)

    backend.keep(events(2))
    backend.close()

    assert peer.bodies("/audit") == [
        {"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "metadata": {}, "items": events(2)}
    ]


def test_a_webhook_that_refuses_loses_events(peer):
    peer.answers["/audit"] = lambda _body: Failure(500)
    backend = webhook(peer)

    with pytest.raises(AuditFailed, match="lost 2 events"):
        backend.keep(events(2))

    backend.close()


def test_the_first_form_is_one_line_of_text():
    event = {
        "auditID": "1",
        "stage": "ResponseComplete",
        "verb": "get",
        "user": {"username": 'a"b', "groups": ["g", "h"]},
        "requestURI": "/api",
        "requestReceivedTimestamp": "2030-01-01T00:00:00.000000Z",
        "responseStatus": {"code": 200},
        "sourceIPs": ["127.0.0.1"],
    }

    assert legacy_line(event) == (
        b'2030-01-01T00:00:00.000000Z AUDIT: id="1" stage="ResponseComplete" ip="127.0.0.1" method="get"'
        b' user="a\\"b" groups="\\"g\\",\\"h\\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>"'
        b' uri="/api" response="200"\n'
    )
