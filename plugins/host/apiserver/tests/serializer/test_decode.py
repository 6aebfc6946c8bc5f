"""Bodies of another kind than the one that is wanted."""

import json

import pytest
from hyperkube_lib.serving.exchange import HttpRequest

from hyperkube.machinery.users import LOOPBACK

pytest.importorskip("hyperkube_api.apiregistration", reason="needs the API groups")

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
EXTENSIONS = "k8s.io/apiextensions-apiserver/pkg/apiserver/apiserver.go:55"
AGGREGATOR = "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"


@pytest.mark.parametrize(
    ("path", "version", "kind", "scheme"),
    [
        ("/api/v1/nodes", "v1", "Bogus", "pkg/api/legacyscheme/scheme.go:30"),
        ("/apis/apiregistration.k8s.io/v1/apiservices", "bogus/v1", "APIService", AGGREGATOR),
        ("/apis/apiregistration.k8s.io/v1/apiservices", "v1", "Pod", AGGREGATOR),
        (DEFINITIONS, "apiextensions.k8s.io/v1", "Bogus", EXTENSIONS),
        ("/api/v1/nodes", "apiextensions.k8s.io/v1", "CustomResourceDefinition", "pkg/api/legacyscheme/scheme.go:30"),
    ],
    ids=["legacy", "aggregator", "pod-at-the-aggregator", "extensions", "definition-as-a-node"],
)
def test_a_kind_is_looked_up_in_the_scheme_of_the_server_that_has_the_group(server, path, version, kind, scheme):
    body = json.dumps({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}).encode()
    headers = {"content-type": "application/json"}

    answer = server.handler.handle(
        HttpRequest(method="POST", path=path, query_string="", headers=headers, body=body, user=LOOPBACK)
    )

    assert answer.status == 400
    message = json.loads(answer.body)["message"]
    assert message.endswith(f'no kind "{kind}" is registered for version "{version}" in scheme "{scheme}"')
