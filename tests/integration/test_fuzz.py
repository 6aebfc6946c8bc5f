"""Whatever is sent, the server answers with sense: sound requests succeed, the others are refused with a reason.

Some hundred cases in every run; ``./dev fuzz`` sends 10,000 that are never the same.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("hypothesis", reason="'hypothesis' is not installed")

from client_objects import definition
from fuzz_cases import sound, wrong
from fuzz_heavy import HEAVIEST, heavy
from fuzz_progress import Progress
from fuzz_refusals import names_the_culprit
from fuzz_requests import BODIES, BROKEN, CLUSTER, SOUND, place, shown, target
from hyperkube_lib.serving.exchange import HttpRequest, Response, StreamResponse
from hyperkube_testing.cluster.cluster import ADMIN, ControlPlane
from hypothesis import HealthCheck, Phase, given, settings

from hyperkube.machinery.clock import SystemClock
from hyperkube.storage.memory import MemoryStore
from hyperkube.storage.store import prefix_end

CASES = int(os.environ.get("HYPERKUBE_FUZZ_CASES", "300"))
QUIET = settings(
    derandomize=CASES <= 600,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
KEPT_BY_THE_SERVER = (
    "/registry/leases/kube-system/",
    "/registry/masterleases/",
    "/registry/events/",
    "/registry/flowschemas/",
    "/registry/prioritylevelconfigurations/",
)
UNREACHABLE_NODE = b"no preferred addresses found"
"""What Kubernetes too calls an internal error: the proxy of a node that has no address."""

pytestmark = [
    pytest.mark.slow,
    # A hanging case is what the limit is for: a case takes 0.02 s of a quiet processor, and up to 1 s of a busy machine.
    pytest.mark.timeout(300 + CASES),
    pytest.mark.filterwarnings("ignore:Generating overly large repr"),
]


class Complaints(logging.Handler):
    """Keeps what a server logs as an error."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.records = []

    def emit(self, record):
        if record.exc_info or record.levelno >= logging.ERROR:
            self.records.append(self.format(record))


class Server:
    """An API server without controllers, called without a socket."""

    def __init__(self, handler, store, complaints):
        self.handler = handler
        self.store = store
        self.complaints = complaints

    def send(self, case):
        path, _, query = target(case).partition("?")
        request = HttpRequest(
            method=case.method,
            path=case.path,
            raw_path=path,
            query_string=query,
            headers={"accept": "application/json", **case.headers},
            body=case.body,
            user=ADMIN,
        )
        answer = self.handler.handle(request)
        if isinstance(answer, StreamResponse):
            answer.source.subscribe(lambda: None)
            answer.source.drain()
            answer.source.close()
        if case.method == "DELETE" and answer.status == 200:
            self.furnish()
        return answer

    def furnish(self):
        """Make the objects that the cases are about, where they are missing.

        In the namespace of the broken cases an earlier one may stand in the way: a quota, a range of limits.
        """
        for namespace in (BROKEN, SOUND):
            self._make(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}}, namespace)
        for (where, resource), body in BODIES.items():
            for namespace in (BROKEN,) if resource in CLUSTER else (BROKEN, SOUND):
                self._make(place(where, resource, namespace), body, namespace)

    def _make(self, path, body, namespace):
        body = {**body, "metadata": {**body["metadata"], "namespace": namespace}} if "/namespaces/" in path else body
        headers = {"content-type": "application/json"}
        request = HttpRequest(method="POST", path=path, headers=headers, body=json.dumps(body).encode(), user=ADMIN)
        made = self.handler.handle(request)
        assert made.status in ({201, 409} if namespace == SOUND else {201, 409, 403, 422}), (path, made.body)

    def stored(self):
        """Return all that is stored, but for what the server renews by itself."""
        found = self.store.range("/registry/", prefix_end("/registry/")).items
        return {row.key: row.value for row in found if not row.key.startswith(KEPT_BY_THE_SERVER)}


@contextmanager
def fuzzed_server():
    """Run a server that has what the cases are about."""
    clock = SystemClock()
    store, complaints = MemoryStore(clock), Complaints()
    logging.getLogger("hyperkube").addHandler(complaints)
    options = {"service-cluster-ip-range": "10.0.0.0/16", "runtime-config": {"api/legacy": "true"}}
    try:
        with ControlPlane(apiserver=options, controller_manager=None, scheduler=None, store=store) as cluster:
            _furnish(cluster)
            server = Server(cluster.server.handler, store, complaints)
            server.furnish()
            yield server
    finally:
        logging.getLogger("hyperkube").removeHandler(complaints)
        store.close()
        clock.close()


def _furnish(cluster):
    def post(path, body):
        made = cluster.client.request("POST", path, body=json.dumps(body).encode())
        assert made.status in {201, 409}, made.body

    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition("Widget"))
    for name in (SOUND, BROKEN):
        post("/api/v1/namespaces", {"metadata": {"name": name}})
    widgets = f"/apis/{definition('Widget')['spec']['group']}/v1/widgets"
    cluster.wait(lambda: cluster.client.request("GET", widgets).status == 200, "the custom kind")


@pytest.fixture(scope="module")
def server():
    with fuzzed_server() as running:
        yield running


def faults(server, case):
    """Send a case; return what is wrong with the answer."""
    revision, before = server.store.revision(), None
    if case.writes and not case.sound:
        before = server.stored()
    server.complaints.records.clear()
    began = time.thread_time()
    answer = server.send(case)
    if case.heavy and time.thread_time() - began > HEAVIEST:
        yield f"took {time.thread_time() - began:.1f} s of processor time"
    if server.complaints.records:
        yield f"logged {server.complaints.records[0]}"
    if not isinstance(answer, Response):
        return
    if case.sound and answer.status not in {200, 201}:
        yield f"refused a sound request: {answer.status} {answer.body[:500]!r}"
    if answer.status < 400:
        return
    yield from _faults_of_refusal(answer, case)
    # Kubernetes too notices only after the write that its result cannot be shown in the wanted form.
    if before is not None and answer.status != 406 and server.store.revision() != revision:
        after = server.stored()
        if after != before:
            yield f"refused, yet changed {[key for key in before | after if before.get(key) != after.get(key)]}"


def _faults_of_refusal(answer, case):
    kind = dict(answer.headers).get("Content-Type", "")
    if not answer.body and (case.method == "HEAD" or case.path.startswith("/openapi/")):
        return  # Kubernetes too has no words for a form of the descriptions that is not offered
    if answer.status == 500 and b"InternalError" in answer.body and UNREACHABLE_NODE not in answer.body:
        yield f"failed: {answer.body[:500]!r}"
    if kind.startswith("text/plain"):
        if not answer.body.strip():
            yield "an empty answer"
        return
    if "protobuf" in kind:
        if b"Status" not in answer.body:
            yield f"no Status: {answer.body[:200]!r}"
        return
    status = yaml.safe_load(answer.body) if "yaml" in kind else json.loads(answer.body)
    if status.get("kind") != "Status" or not status.get("message") or status.get("code") != answer.status:
        yield f"no proper Status: {answer.body[:500]!r}"
    elif answer.status < 500 and not case.heavy and not names_the_culprit(status, case):
        yield f"names nothing of the request: {status}"


def test_every_request_is_answered_with_sense(server):
    succeeded, refused, found = 0, 0, {}
    progress = Progress("requests", CASES)

    def send(case):
        nonlocal succeeded, refused
        for fault in faults(server, case):
            found.setdefault(re.sub(r"[0-9]+|sound-\w+", "#", fault)[:200], f"{shown(case)}: {fault}")
        succeeded, refused = succeeded + case.sound, refused + (not case.sound)
        progress.step(len(found))

    shares = ((wrong, CASES - CASES // 6 - CASES // 8), (heavy, CASES // 8), (sound, CASES // 6))
    for strategy, count in shares:
        settings(QUIET, max_examples=count)(given(case=strategy)(send))()
    print(f"{succeeded} sound and {refused} broken requests")

    assert not found, "\n\n".join([f"{len(found)} kinds of wrong answers", *found.values()])
    assert succeeded > CASES / 10
    assert refused > CASES / 2
