"""`kill -9` in the middle of a load: no answered write lost, none half there, no watch event lost or doubled.

Each client counts up one object of its own, so what may be there afterwards is known: the last answered number, or the
one that was under way. A follower watches from one resource version to the next over all crashes. `HYPERKUBE_ROUNDS`
makes the short form long.
"""

import http.client
import os
import random
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from server_processes import ApiServer, Etcd, configmap, eventually, need_etcd, running

pytestmark = pytest.mark.slow

MAPS = "/api/v1/namespaces/default/configmaps"
OPEN = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")
ROUNDS = int(os.environ.get("HYPERKUBE_ROUNDS", "3"))
CLIENTS = 4
UNANSWERED = (OSError, http.client.HTTPException)


class Counter(threading.Thread):
    """Counts its object up until it is told to end; notes what was tried and what was answered."""

    def __init__(self, server, name):
        super().__init__(daemon=True)
        self.server, self.name = server, name
        self.tried = 0
        self.answered = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            self.tried += 1
            body = configmap(self.name, left=str(self.tried), right=str(self.tried))
            try:
                status, _ = self.server.put(f"{MAPS}/{self.name}", body)
            except UNANSWERED:
                time.sleep(0.02)
                continue
            if status == 200:
                self.answered.append(self.tried)


class Follower(threading.Thread):
    """Watches over crashes, always from the last version it saw."""

    def __init__(self, server, version):
        super().__init__(daemon=True)
        self.server, self.version, self.seen, self.odd = server, version, {}, []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            try:
                for event in self.server.watch(f"{MAPS}?watch=1&resourceVersion={self.version}&timeoutSeconds=5"):
                    self.note(event)
            except (*UNANSWERED, ValueError):  # ValueError: a line that the crash cut off
                time.sleep(0.02)

    def note(self, event):
        if event["type"] != "MODIFIED":
            self.odd.append(event)
            return
        meta = event["object"]["metadata"]
        if int(meta["resourceVersion"]) <= int(self.version):
            self.odd.append(event)
        self.version = meta["resourceVersion"]
        self.seen.setdefault(meta["name"], []).append(event["object"]["data"])


@pytest.fixture(params=["sqlite", "etcd", "etcd itself"])
def parts(request, tmp_path):
    """Return the API server, and what is to be killed."""
    if request.param == "sqlite":
        server = ApiServer(tmp_path, "--storage-backend=sqlite", f"--data-dir={tmp_path / 'data'}", *OPEN)
        with running(server):
            yield server, server
        return
    need_etcd()
    etcd = Etcd(tmp_path)
    server = ApiServer(tmp_path, f"--etcd-servers={etcd.url}", *OPEN)
    with running(etcd, server):
        yield server, etcd if request.param == "etcd itself" else server


def test_nothing_that_was_answered_is_lost(parts):
    server, victim = parts
    dice = random.Random(7)
    names = [f"counter-{number}" for number in range(CLIENTS)]
    for name in names:
        assert server.post(MAPS, configmap(name, left="0", right="0"))[0] == 201
    follower = Follower(server, server.get(MAPS)["metadata"]["resourceVersion"])
    counters = [Counter(server, name) for name in names]
    for thread in (follower, *counters):
        thread.start()

    for _ in range(ROUNDS):
        time.sleep(dice.uniform(0.1, 0.5))
        victim.kill()
        victim.start()
        eventually(server.answers, 20)
    time.sleep(0.3)
    for counter in counters:
        counter.ended.set()
        counter.join()

    for counter in counters:
        data = server.get(f"{MAPS}/{counter.name}")["data"]
        assert data["left"] == data["right"]
        assert counter.answered[-1] <= int(data["left"]) <= counter.tried
        assert len(counter.answered) > ROUNDS
        eventually(lambda name=counter.name, data=data: follower.seen.get(name, [None])[-1] == data, 10)
    follower.ended.set()
    assert follower.odd == []
    for counter in counters:
        numbers = [int(data["left"]) for data in follower.seen[counter.name]]
        assert numbers == sorted(set(numbers)), "a change was doubled or out of order"
        assert set(counter.answered) <= set(numbers), "a change was lost"
        assert all(data["left"] == data["right"] for data in follower.seen[counter.name])
