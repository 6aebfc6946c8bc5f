"""A token is good for the audiences that it was made for; one that names none, for the server's own alone."""

import sys
from base64 import b64encode
from pathlib import Path

import jwt
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import ACCOUNTS, ISSUER, Call, World
from hyperkube_lib.serving.kubelet_tokens import PREFIX

SECRETS = "/api/v1/namespaces/a/secrets"
CLAIM = "kubernetes.io/serviceaccount/"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("reviews"))
    world.tokens |= {"static": "token-reader", "bootstrap": "abcdef.0123456789abcdef", "legacy": legacy(world)}
    yield world
    world.close()


def legacy(world):
    annotations = {"kubernetes.io/service-account.name": "robot"}
    secret = {"metadata": {"name": "old", "annotations": annotations}, "type": "kubernetes.io/service-account-token"}
    world.make(SECRETS, secret)
    uid = world.ask(Call("admin", "GET", f"{ACCOUNTS}/robot")).json["metadata"]["uid"]
    of = {"namespace": "a", "secret.name": "old", "service-account.name": "robot", "service-account.uid": uid}
    claims = {"iss": "kubernetes/serviceaccount", "sub": "system:serviceaccount:a:robot"}
    token = jwt.encode(claims | {CLAIM + name: value for name, value in of.items()}, world.key, "ES256")
    stored = world.ask(Call("admin", "GET", f"{SECRETS}/old")).json
    world.make(f"{SECRETS}/old", {**stored, "data": {"token": b64encode(token.encode()).decode()}}, "PUT")
    return token


def review(world, token, *audiences):
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    answer = world.ask(Call("admin", "POST", path, {"spec": {"token": token, "audiences": list(audiences)}}))
    assert answer.status == 201, answer.body
    return answer.json["status"]


@pytest.mark.parametrize("kind", ["static", "bootstrap", "legacy", "good"])
def test_a_token_is_not_good_for_another_audience(world, kind):
    status = review(world, world.tokens[kind], "vault")

    assert "authenticated" not in status
    assert status["user"] == {}


@pytest.mark.parametrize("kind", ["static", "bootstrap", "legacy", "good"])
@pytest.mark.parametrize("audiences", [(), (ISSUER,), ("vault", ISSUER)])
def test_it_is_good_for_the_servers_own(world, kind, audiences):
    status = review(world, world.tokens[kind], *audiences)

    assert (status["authenticated"], status["audiences"]) == (True, [ISSUER])


@pytest.mark.parametrize("end", ["9" * 5000, "9" * 30, "-1", "", "٣"])
def test_no_token_of_a_kubelets_client_is_a_crash(world, end):
    assert review(world, f"{PREFIX}{end}.x", "system:node:n1")["user"] == {}
