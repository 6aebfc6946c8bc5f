"""The endpoints that every server has."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import httpx
import orjson
import pytest
from hyperkube_lib.serving.endpoints import ServerEndpoints
from hyperkube_lib.serving.exchange import HttpRequest
from prometheus_client import CollectorRegistry, Counter

from hyperkube.machinery.clock import SystemClock


def get(endpoints, path, query="", method="GET", body=b"", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return endpoints.answer(HttpRequest(method=method, path=path, query_string=query, body=body, headers=named))


@pytest.fixture
def endpoints():
    registry = CollectorRegistry()
    Counter("requests", "How many.", registry=registry).inc(3)
    made = ServerEndpoints(
        metrics=lambda: registry,
        version={"major": "1", "gitVersion": "v1.36.0"},
        configz={"kubeletconfig": {"maxPods": 110}, "made": lambda: {"late": True}},
        paths=lambda: ["/api/v1"],
    )
    made.add_check("etcd", lambda: "")
    return made


def test_health_is_two_letters(endpoints):
    for path in ("/healthz", "/livez", "/readyz", "/healthz/etcd"):
        answer = get(endpoints, path)
        assert (answer.status, answer.body) == (200, b"ok")


def test_a_health_path_is_taken_as_it_is_written(endpoints):
    assert get(endpoints, "/healthz/").status == 404


def test_verbose_names_the_checks(endpoints):
    assert get(endpoints, "/readyz", "verbose").body == b"[+]ping ok\n[+]etcd ok\nreadyz check passed\n"


def test_a_failing_check_is_an_error_without_its_reason(endpoints):
    endpoints.add_check("disk", lambda: "full", live=True)

    answer = get(endpoints, "/livez")
    assert answer.status == 500
    assert answer.body == b"[+]ping ok\n[-]disk failed: reason withheld\nlivez check failed\n"
    assert get(endpoints, "/livez/disk").body == b"internal server error: full\n"


def test_a_check_that_raises_fails(endpoints, caplog):
    endpoints.add_check("disk", lambda: 1 / 0)

    assert get(endpoints, "/healthz").status == 500
    assert endpoints.healthz.failures() == {"disk": "ZeroDivisionError: division by zero"}


def test_checks_can_be_excluded(endpoints):
    endpoints.add_check("disk", lambda: "full")

    answer = get(endpoints, "/healthz", "verbose&exclude=disk&exclude=moon")
    assert answer.status == 200
    assert answer.body == (
        b"[+]ping ok\n[+]etcd ok\n[+]disk excluded: ok\n"
        b'warn: some health checks cannot be excluded: no matches for "moon"\nhealthz check passed\n'
    )


def test_an_unknown_check_is_not_found(endpoints):
    assert get(endpoints, "/healthz/moon").status == 404


def test_metrics_are_the_registrys_own(endpoints):
    answer = get(endpoints, "/metrics", accept="text/plain")

    assert b"requests_total 3.0" in answer.body
    assert b"python_info" not in answer.body
    assert dict(answer.headers)["Content-Type"].startswith("text/plain; version=")


def test_version_configz_and_index(endpoints):
    assert orjson.loads(get(endpoints, "/version").body)["gitVersion"] == "v1.36.0"
    assert orjson.loads(get(endpoints, "/configz").body) == {"kubeletconfig": {"maxPods": 110}, "made": {"late": True}}
    paths = orjson.loads(get(endpoints, "/").body)["paths"]
    assert {"/api/v1", "/healthz", "/healthz/etcd", "/metrics", "/version", "/configz"} <= set(paths)
    assert paths == sorted(paths)


def test_other_paths_are_none_of_ours(endpoints):
    assert get(endpoints, "/api/v1/pods") is None
    assert get(endpoints, "/debug/nothing").status == 404


def test_what_is_not_offered_is_not_found():
    bare = ServerEndpoints(profiling=False)

    assert [get(bare, path).status for path in ("/metrics", "/version", "/configz", "/debug/pprof/")] == [404] * 4


def test_profiles_show_stacks(endpoints):
    assert b"test_profiles_show_stacks" in get(endpoints, "/debug/pprof/goroutine").body
    assert get(endpoints, "/debug/pprof/profile", "seconds=0.05").status == 200
    assert get(endpoints, "/debug/pprof/profile", "seconds=x").status == 400


def test_tasks_that_wait_are_shown_beside_the_threads(endpoints):
    async def waits_for_nothing() -> bytes:
        waiting = asyncio.create_task(asyncio.Event().wait(), name="left over")
        done = asyncio.create_task(asyncio.sleep(0), name="over soon")
        await done
        shown = get(endpoints, "/debug/pprof/goroutine").body
        waiting.cancel()
        return shown

    shown = asyncio.run(waits_for_nothing())

    assert b"\ntask left over: wait (" in shown
    assert b"over soon" not in shown


def test_the_log_level_can_be_put():
    levels = []
    endpoints = ServerEndpoints(set_verbosity=levels.append)

    assert get(endpoints, "/debug/flags/v", method="PUT", body=b"4").status == 200
    assert get(endpoints, "/debug/flags/v", method="PUT", body=b"x").status == 400
    assert levels == [4]
    assert get(endpoints, "/debug/flags/v").status == 406


def test_it_is_a_handler_of_its_own(start, endpoints):
    edge = start(endpoints)

    with httpx.Client(base_url=f"http://127.0.0.1:{edge.port}") as client:
        assert client.get("/healthz").text == "ok"
        assert client.get("/version").json()["major"] == "1"
        assert client.get("/elsewhere").text == "404 page not found\n"
        assert client.head("/metrics").status_code == 200


def test_health_needs_no_flask():
    code = (
        "import sys\n"
        "from hyperkube_lib.serving.edge import Edge\n"
        "from hyperkube_lib.serving.endpoints import ServerEndpoints\n"
        "from hyperkube_lib.serving.exchange import HttpRequest\n"
        "assert ServerEndpoints().answer(HttpRequest(method='GET', path='/readyz')).body == b'ok'\n"
        "print([name for name in ('flask', 'uvicorn', 'cryptography', 'prometheus_client', 'wsproto') if name in sys.modules])"
    )

    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_clock_is_the_given_one():
    clock = SystemClock()

    assert ServerEndpoints(clock=clock).clock is clock
