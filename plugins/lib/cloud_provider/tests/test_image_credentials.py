"""A credential provider program's question and answer, as the kubelet's own messages are."""

import io
import json

import pytest
from hyperkube_lib.cloud_provider.image_credentials import Logins, registry_of, serve

from hyperkube.hookspecs.cloud import CloudUnavailable

VERSION = "credentialprovider.kubelet.k8s.io/v1"
QUESTION = {"kind": "CredentialProviderRequest", "apiVersion": VERSION, "image": "r.example/web"}


def asked(question, ask):
    out = io.StringIO()
    text = question if isinstance(question, str) else json.dumps(question)
    return serve(ask, io.StringIO(text), out), out.getvalue()


def test_a_question_is_answered():
    code, text = asked(QUESTION, lambda image: Logins(by_registry={registry_of(image): ("u", "p")}, seconds=60))

    assert code == 0
    assert json.loads(text) == {
        "kind": "CredentialProviderResponse", "apiVersion": VERSION, "cacheKeyType": "Registry", "cacheDuration": "60s",
        "auth": {"r.example": {"username": "u", "password": "p"}},
    }  # fmt: skip


@pytest.mark.parametrize("question", ["", "[]", "{}", {**QUESTION, "kind": "Pod"}, {**QUESTION, "apiVersion": "v1"}])
def test_anything_else_is_one_line(question, capsys):
    code, text = asked(question, lambda _image: Logins())

    assert (code, text) == (1, "")
    assert capsys.readouterr().err == "error: the standard input holds no CredentialProviderRequest\n"


def test_a_failure_is_one_line_with_the_image(capsys):
    def fails(_image):
        raise CloudUnavailable("the cloud is down")

    assert asked(QUESTION, fails) == (1, "")
    assert capsys.readouterr().err == "error: no credentials for r.example/web: the cloud is down\n"


def test_the_registry_of_an_image():
    assert registry_of("r.example:5000/a/b:1") == registry_of("https://r.example:5000/a") == "r.example:5000"
