"""Traces of requests: what a configuration may say, and what spans are called."""

import pytest
from hyperkube_host.apiserver.pipeline.tracing import RequestTracer, TracingConfiguration, read_tracing, span_name
from hyperkube_host.apiserver.request.api_request import ApiRequest
from hyperkube_host.apiserver.request.request_info import parse
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo

HEAD = "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: TracingConfiguration\n"


def written(folder, text):
    file = folder / "tracing.yaml"
    file.write_text(HEAD + text)
    return str(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", TracingConfiguration("localhost:4317", 0)),
        ("endpoint: otel:4317\nsamplingRatePerMillion: 100\n", TracingConfiguration("otel:4317", 100)),
    ],
    ids=["defaults", "all"],
)
def test_a_configuration_is_read(tmp_path, text, expected):
    assert read_tracing(written(tmp_path, text)) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("samplingRatePerMillion: -1", "sampling rate must be positive"),
        ("samplingRatePerMillion: 1000001", "sampling rate per million must be less than or equal to one million"),
        ("samplingRatePerMillion: often", "sampling rate must be an integer"),
        ("endpoint: https://otel:4317", "must be HOST:PORT of a collector"),
        ("rate: 1", "unknown field 'rate'"),
    ],
)
def test_a_wrong_configuration_is_one_line(tmp_path, text, why):
    with pytest.raises(UsageError, match=why):
        read_tracing(written(tmp_path, text))


@pytest.mark.parametrize(
    ("method", "path", "name"),
    [
        ("GET", "/api/v1/nodes", "GET /api/v1/nodes"),
        ("PATCH", "/api/v1/namespaces/a/pods/p/status", "PATCH /api/v1/namespaces/{:namespace}/pods/{:name}/status"),
        ("POST", "/apis/apps/v1/namespaces/a/deployments", "POST /apis/apps/v1/namespaces/{:namespace}/deployments"),
        ("GET", "/healthz", "GET"),
    ],
)
def test_a_span_is_called_after_its_place(method, path, name):
    assert span_name(method, parse(method, path, {})) == name


class Kept:
    """Spans that stay here."""

    def __init__(self):
        self.told = []

    def served(self, name, headers, attributes, **more):
        self.told.append((name, dict(attributes), more))

    def close(self):
        pass


@pytest.mark.parametrize(("groups", "trusted"), [((), False), (("system:masters",), True)])
def test_a_request_is_told_with_its_status_and_whom_it_trusts(groups, trusted):
    kept, info = Kept(), parse("GET", "/api/v1/nodes", {})
    asked = HttpRequest(method="GET", path="/api/v1/nodes", raw_path="/api/v1/nodes", query_string="limit=1")
    request = ApiRequest(method="GET", path="/api/v1/nodes", info=info, user=UserInfo("u", groups=groups), audit_id="7")

    RequestTracer(kept, FakeClock()).answered(asked, request, Response(status=404), 0.25)

    ((name, attributes, more),) = kept.told
    assert (name, attributes["http.target"], attributes["audit-id"]) == (
        "GET /api/v1/nodes",
        "/api/v1/nodes?limit=1",
        "7",
    )
    assert (more["status"], more["seconds"], more["trusted"]) == (404, 0.25, trusted)
