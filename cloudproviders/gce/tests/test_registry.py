"""What the kubelet is given for Google's registries."""

import json

import pytest
from hyperkube_cloud.gce.registry import credentials
from hyperkube_testing.rest_cloud import answer

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable


def machine(told):
    def send(request):
        assert request.url.endswith("/instance/service-accounts/default/token")
        assert request.headers["Metadata-Flavor"] == "Google"
        return answer(200, told, metadata_flavor="Google")

    return send


@pytest.mark.parametrize("registry", ["gcr.io", "eu.gcr.io", "europe-west3-docker.pkg.dev"])
def test_the_machines_account_logs_in_to_the_images_registry(registry):
    found = credentials(f"{registry}/shop/web:1", machine(json.dumps({"access_token": "t", "expires_in": 9}).encode()))

    assert (found.by_registry, found.seconds, found.kept_for) == ({registry: ("_token", "t")}, 0, "Image")


def test_another_registry_gets_no_token():
    with pytest.raises(CloudFailed, match=r"gcr\.io\.example is none of Google's registries"):
        credentials("gcr.io.example/web", machine(b"{}"))


def test_a_token_that_cannot_be_read_is_told_without_it():
    with pytest.raises(CloudUnavailable, match="the metadata server's token cannot be read") as raised:
        credentials("gcr.io/web", machine(b"secret-of-the-test"))
    assert "secret" not in str(raised.value)
