"""A server with --tracing-config-file tells a collector of requests, reads from the cache among them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hyperkube_testing.peers.trace_collector import TraceCollector

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import ApiServer, configmap, eventually, running

pytestmark = pytest.mark.slow
MAPS = "/api/v1/namespaces/default/configmaps"


def test_requests_are_spans_of_the_api_server(tmp_path):
    with TraceCollector() as collector:
        file = tmp_path / "tracing.yaml"
        file.write_text(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
            f"endpoint: {collector.endpoint}\nsamplingRatePerMillion: 1000000\n"
        )
        server = ApiServer(tmp_path, "--storage-backend=memory", f"--tracing-config-file={file}")
        with running(server):
            assert server.post(MAPS, configmap("one", a="b"))[0] == 201
            assert server.request("GET", f"{MAPS}/one")[0] == 200
            assert server.request("GET", f"{MAPS}/two")[0] == 404
            spans = eventually(lambda: len(statuses(collector)) >= 3 and statuses(collector), 30)

    place = "/api/v1/namespaces/{:namespace}/configmaps"
    assert spans == {(f"POST {place}", 201), (f"GET {place}/{{:name}}", 200), (f"GET {place}/{{:name}}", 404)}
    assert {row["service.name"] for row in collector.resources} == {"apiserver"}


def statuses(collector):
    """Return name and status of the spans of config maps."""
    found = set()
    for span in collector.spans():
        told = {each.key: each.value for each in span.attributes}
        if "configmaps" in span.name and told["http.target"].string_value.startswith(MAPS):
            found.add((span.name, told["http.status_code"].int_value))
    return found
