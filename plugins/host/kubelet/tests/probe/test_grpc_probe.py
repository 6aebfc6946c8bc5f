"""gRPC probes against a server of the health protocol."""

from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from hyperkube_host.kubelet.probe.grpc_probe import probe_grpc
from hyperkube_host.kubelet.probe.result import ProbeResult

STATUS = {"": b"\x08\x01", "sick": b"\x08\x02"}


def check(request, context):
    name = request[2:].decode()
    if name not in STATUS:
        context.abort(grpc.StatusCode.NOT_FOUND, "unknown service")
    return STATUS[name]


@pytest.fixture(scope="module")
def port():
    server = grpc.server(ThreadPoolExecutor(1))
    handlers = {"Check": grpc.unary_unary_rpc_method_handler(check)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("grpc.health.v1.Health", handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield port
    server.stop(0).wait()


def probe(port, **action):
    return probe_grpc({"port": port, **action}, "127.0.0.1", 2.0, agent="kube-probe/1.36")


def test_a_service_that_serves_passes(port):
    assert probe(port) == (ProbeResult.SUCCESS, "service healthy")


def test_a_service_that_does_not_serve_fails(port):
    text = 'service unhealthy (responded with "NOT_SERVING")'

    assert probe(port, service="sick") == (ProbeResult.FAILURE, text)


def test_an_unknown_service_fails_with_the_servers_words(port):
    text = "error: health rpc probe failed: rpc error: code = NotFound desc = unknown service"

    assert probe(port, service="other") == (ProbeResult.FAILURE, text)


def test_a_closed_port_fails_when_the_time_is_up():
    outcome = probe_grpc({"port": 9}, "127.0.0.1", 0.2, agent="kube-probe/1.36")

    text = 'timeout: failed to connect service "127.0.0.1:9" within 0.2s: context deadline exceeded'
    assert outcome == (ProbeResult.FAILURE, text)
