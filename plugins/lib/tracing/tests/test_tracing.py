"""Spans arrive at a collector with name, times, attributes and the trace that they belong to."""

import socket
import threading

import pytest
from hyperkube_lib import tracing
from hyperkube_lib.tracing import Spans
from hyperkube_testing.peers.trace_collector import TraceCollector

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
SAMPLED = {"traceparent": f"00-{TRACE}-{PARENT}-01"}


@pytest.fixture
def collector():
    with TraceCollector() as collector:
        yield collector


def sent(collector, rate, headers=None, *, trusted=False, status=200):
    """Send one span; return those that arrived."""
    spans = Spans(collector.endpoint, rate, "apiserver", "one")
    try:
        spans.served(
            "GET /api/v1/nodes", headers or {}, {"http.method": "GET"}, status=status, ended=1_000.5, seconds=0.5,
            trusted=trusted,
        )  # fmt: skip
    finally:
        spans.close()
    return collector.spans()


def test_a_span_says_what_was_done_and_when(collector):
    (span,) = sent(collector, 1_000_000)

    assert (span.name, span.start_time_unix_nano, span.end_time_unix_nano) == (
        "GET /api/v1/nodes", 1_000_000_000_000, 1_000_500_000_000,
    )  # fmt: skip
    told = {each.key: each.value.string_value or each.value.int_value for each in span.attributes}
    assert told == {"http.method": "GET", "http.status_code": 200}
    assert collector.resources[0]["service.name"] == "apiserver"
    assert collector.resources[0]["service.instance.id"] == "one"


def test_without_a_rate_nothing_is_sampled(collector):
    assert sent(collector, 0) == []


def test_a_trusted_caller_has_its_trace_continued_whatever_the_rate(collector):
    (span,) = sent(collector, 0, SAMPLED, trusted=True)

    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)


def test_another_caller_gets_a_link_and_no_sampling(collector):
    assert sent(collector, 0, SAMPLED) == []
    (span,) = sent(collector, 1_000_000, SAMPLED)

    assert span.trace_id.hex() != TRACE
    assert [link.trace_id.hex() for link in span.links] == [TRACE]


@pytest.mark.parametrize(("status", "code"), [(404, 0), (500, 2)], ids=["the client's fault", "the server's fault"])
def test_the_servers_fault_is_an_error(collector, status, code):
    (span,) = sent(collector, 1_000_000, status=status)

    assert span.status.code == code


@pytest.fixture
def silent():
    """Where connections are taken, and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@pytest.fixture(params=["away", "silent"])
def nowhere(request):
    return "127.0.0.1:1" if request.param == "away" else request.getfixturevalue("silent")


def test_a_collector_that_does_not_answer_holds_up_nothing_nor_the_end(nowhere, monkeypatch):
    monkeypatch.setattr(tracing, "CLOSE_SECONDS", 0.05)
    spans = Spans(nowhere, 1_000_000, "apiserver", "one")
    spans.served("GET", {}, {}, status=200, ended=1.0, seconds=0.1, trusted=False)

    closing = threading.Thread(target=spans.close)
    closing.start()
    closing.join(6)

    assert not closing.is_alive()
    assert "OtelBatchSpanRecordProcessor" not in {thread.name for thread in threading.enumerate()}
