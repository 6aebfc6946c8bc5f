"""A token among a WebSocket's sub-protocols: who it proves does not depend on what was asked before."""

import base64
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from attacked_world import MAPS, Call, World

PREFIX = "base64url.bearer.authorization.k8s.io."
WATCH = f"{MAPS}?watch=1&timeoutSeconds=1"
SWITCHED = 101


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("websocket-tokens"))
    yield world
    world.close()


def token(name):
    return PREFIX + base64.urlsafe_b64encode(f"token-{name}".encode()).decode().rstrip("=")


def watch(world, *protocols, who="", **headers):
    socket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": ", ".join(protocols)}  # fmt: skip
    return world.ask(Call(who, "GET", WATCH, headers={**socket, **headers})).status


def test_a_request_without_a_token_is_not_remembered_for_those_with_one(world):
    assert world.ask(Call("", "GET", WATCH)).status == 403
    assert watch(world, "binary.k8s.io") == 403

    assert watch(world, token("admin"), "binary.k8s.io") == SWITCHED


def test_a_token_is_not_remembered_for_those_without_one(world):
    assert watch(world, token("admin"), "binary.k8s.io") == SWITCHED

    assert watch(world, "binary.k8s.io") == 403


@pytest.mark.parametrize(
    "protocols",
    [
        (token("strangers"), "binary.k8s.io"),
        (token("reader"),),
        (token("reader"), token("reader"), "binary.k8s.io"),
        (PREFIX + "!!", "binary.k8s.io"),
        (PREFIX + "_w", "binary.k8s.io"),
    ],
    ids=["unknown", "alone", "doubled", "no base64", "no UTF-8"],
)
def test_a_token_that_is_wrong_is_not_taken_for_none(world, protocols):
    assert watch(world, *protocols) == 401


def test_the_authorization_header_comes_first(world):
    assert watch(world, token("reader"), "binary.k8s.io", who="nobody") == 403


@pytest.mark.parametrize("headers", [{"Upgrade": "spdy/3.1"}, {"Connection": "keep-alive"}], ids=["other", "none"])
def test_it_is_none_where_no_websocket_is_asked_for(world, headers):
    assert watch(world, token("reader"), "binary.k8s.io", **headers) == 403
