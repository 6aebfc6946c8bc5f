"""Discovery, from aggregated documents and from the older ones."""

import json

import pytest

from hyperkube.client.client import RawResponse
from hyperkube.client.discovery import discover
from hyperkube.client.fake import FakeClient
from hyperkube.machinery.errors import ServiceUnavailable


def serve(documents):
    client = FakeClient()
    for path, document in documents.items():
        client.answer("GET", path, lambda _body, d=document: RawResponse(200, {}, json.dumps(d).encode()))
    return client


PODS = {"resource": "pods", "responseKind": {"kind": "Pod"}, "scope": "Namespaced", "verbs": ["get", "list"]}


def test_aggregated_documents_tell_all_at_once():
    core = {"metadata": {}, "versions": [{"version": "v1", "resources": [PODS]}]}
    stale = {"metadata": {"name": "metrics.k8s.io"}, "versions": [{"version": "v1", "freshness": "Stale"}]}
    empty = {"kind": "APIGroupDiscoveryList", "items": [stale]}

    found = discover(serve({"/api": {"kind": "APIGroupDiscoveryList", "items": [core]}, "/apis": empty}))

    (row,) = found.resources
    assert (str(row.group_kind), row.gvr.path("d"), row.namespaced) == ("Pod", "/api/v1/namespaces/d/pods", True)
    assert found.failed == ("metrics.k8s.io/v1",)


def test_the_preferred_version_of_a_resource_is_taken():
    group = {
        "name": "g",
        "versions": [{"groupVersion": "g/v1beta1"}, {"groupVersion": "g/v1"}],
        "preferredVersion": {"groupVersion": "g/v1"},
    }
    rows = {"resources": [{"name": "xs", "kind": "X", "namespaced": False, "verbs": []}, {"name": "xs/status"}]}
    documents = {"/api": {"versions": []}, "/apis": {"groups": [group]}, "/apis/g/v1": rows, "/apis/g/v1beta1": rows}

    (row,) = discover(serve(documents)).resources

    assert row.gvr.version == "v1"


def test_a_server_that_does_not_answer_is_an_error():
    with pytest.raises(ServiceUnavailable):
        discover(serve({}))
