"""What clients write is not remembered beyond a modest length, so that asking often fills no memory."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hostile_client import ADMIN, Hostile, World, request
from hyperkube_host.apiserver.serializer import negotiation

from hyperkube.machinery import labels, quantity
from hyperkube.machinery.schema import scalars

MAPS = "/api/v1/namespaces/a/configmaps"
TIMES = 12
READER = ADMIN.replace(b"token-admin", b"token-reader")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    world = World(tmp_path_factory.mktemp("memory"))
    yield Hostile(world)
    world.close()


def characters(cache):
    """Return how much text the keys of a cache hold, tuples and what is in them included."""
    if isinstance(cache, str | bytes):
        return len(cache)
    if isinstance(cache, dict):
        return sum(characters(key) for key in cache)
    return sum(map(characters, cache)) if isinstance(cache, tuple | list) else 0


def test_long_names_and_paths_are_not_remembered(hostile):
    for number in range(TIMES):
        for credentials in (ADMIN, READER):
            name = f"{number}{'x' * 50_000}"
            assert hostile.send(request("GET", f"{MAPS}/{name}", credentials=credentials))[0] == 404
            assert hostile.send(request("GET", f"/{name}", credentials=credentials))[0] in {403, 404}

    server = hostile.world.server
    assert characters(server.handler._hot_reads._places) < 100_000
    assert characters(server.handler._pipeline._authorization._decisions) < 100_000


def test_long_header_names_are_not_remembered(hostile):
    for number in range(TIMES):
        hostile.send(request("GET", "/readyz", b"%d%s: b" % (number, b"x" * 50_000)))

    assert characters(hostile.world.edge._names) < 100_000


def test_long_credentials_are_not_remembered(hostile):
    for number in range(TIMES):
        hostile.send(request("GET", "/version", b"Authorization: Other %d%s" % (number, b"x" * 50_000)))

    assert characters(hostile.world.server.authentication._known) < 100_000


@pytest.mark.parametrize(
    ("cached", "path", "line"),
    [
        (labels._parse, MAPS + "?labelSelector={}a", None),
        (negotiation._clauses, MAPS, "Accept: application/json,{}"),
        (negotiation._negotiate, MAPS, "Accept: application/json,{}"),
    ],
    ids=["selectors", "clauses", "formats"],
)
def test_long_texts_of_requests_are_not_remembered(hostile, cached, path, line):
    cached.cache_clear()
    for number in range(TIMES):
        text = f"!a{number}," * 8000
        more = [line.format(text).encode()] if line else []
        status, _ = hostile.send(
            request("GET", path.format(text), *more, credentials=b"Host: x\r\n" + ADMIN.split(b"\r\n")[2] + b"\r\n")
        )
        assert status == 200

    assert cached.cache_info().currsize <= TIMES
    longest = negotiation.LONGEST_ACCEPT
    assert cached is not labels._parse or cached.cache_info().currsize == 0
    assert len(negotiation.read_part("a," * longest)) <= longest


@pytest.mark.parametrize(
    ("cached", "kind", "spec"),
    [
        (scalars._micro_time_text, "leases", {"renewTime": "2026-01-02T03:04:05.%sZ"}),
        (quantity._parse, "resourcequotas", {"hard": {"pods": "%s"}}),
    ],
)
def test_long_texts_of_objects_are_not_remembered(hostile, cached, kind, spec):
    cached.cache_clear()
    groups = {"leases": "/apis/coordination.k8s.io/v1", "resourcequotas": "/api/v1"}
    for number in range(TIMES):
        text = f"{number:09}" + "1" * 20_000
        filled = {
            key: {inner: value % text for inner, value in value.items()} if isinstance(value, dict) else value % text
            for key, value in spec.items()
        }
        path = f"{groups[kind]}/namespaces/a/{kind}?dryRun=All"
        hostile.ask("POST", path, {"metadata": {"name": f"m{number}"}, "spec": filled})

    assert cached.cache_info().currsize < TIMES
