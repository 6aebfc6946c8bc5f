"""The credentials for an image, from the pull secrets of its pod."""

import base64

import orjson
import pytest
from hyperkube_host.kubelet.images.pull_secrets import credentials_for, registry_of

from hyperkube.hookspecs.runtime import RegistryCredentials
from hyperkube.machinery.errors import NotFound

POD = {"metadata": {"namespace": "ns"}, "spec": {"imagePullSecrets": [{"name": "missing"}, {"name": "hub"}]}}
AUTHS = {
    "https://registry.example.com": {"auth": base64.b64encode(b"jane:s3cret").decode()},
    "docker.io": {"username": "joe", "password": "pw"},
}


def get_secret(namespace, name):
    if (namespace, name) != ("ns", "hub"):
        raise NotFound(name)
    return {"data": {".dockerconfigjson": base64.b64encode(orjson.dumps({"auths": AUTHS})).decode()}}


@pytest.mark.parametrize(
    ("reference", "registry"),
    [
        ("nginx", "docker.io"),
        ("library/nginx:1", "docker.io"),
        ("localhost/x", "localhost"),
        ("quay.io/a/b@sha256:1", "quay.io"),
        ("host:5000/x", "host:5000"),
    ],
)
def test_a_reference_names_its_registry_or_none(reference, registry):
    assert registry_of(reference) == registry


@pytest.mark.parametrize(
    ("reference", "wanted"),
    [
        ("registry.example.com/app:1", RegistryCredentials(username="jane", password="s3cret")),
        ("nginx", RegistryCredentials(username="joe", password="pw")),
        ("quay.io/app", None),
    ],
)
def test_the_secret_for_the_registry_is_used_and_a_missing_one_passed_over(reference, wanted):
    assert credentials_for(POD, reference, get_secret) == wanted


def test_a_password_is_not_shown():
    assert "s3cret" not in repr(credentials_for(POD, "registry.example.com/app", get_secret))
