"""The options of deletions that something else than a DELETE asks for."""

import json

import pytest
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.kinds.resources import PODS
from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.policy", reason="needs the API groups")


@pytest.fixture(scope="module")
def server(server):
    spec = {"containers": [{"name": "c", "image": "i"}]}
    pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p"}, "spec": spec}
    server.client(LOOPBACK).create(PODS, pod, "default")
    return server


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            {"propagationPolicy": "Bogus"},
            'propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"',
        ),
        (
            {"propagationPolicy": "Orphan", "orphanDependents": True},
            'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
        ),
    ],
    ids=["unknown-policy", "both"],
)
def test_an_eviction_checks_the_options_of_its_deletion(server, options, text):
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": options}
    request = HttpRequest(
        method="POST",
        path="/api/v1/namespaces/default/pods/p/eviction",
        query_string="",
        headers={"content-type": "application/json"},
        body=json.dumps(eviction).encode(),
        user=LOOPBACK,
    )

    answer = server.handler.handle(request)

    assert answer.status == 422
    assert json.loads(answer.body)["message"] == f'DeleteOptions.meta.k8s.io "" is invalid: {text}'
    assert server.client(LOOPBACK).get(PODS, "p", "default")["metadata"]["name"] == "p"
