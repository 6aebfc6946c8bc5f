"""`kill -9` at a random moment of a load: no answered write lost, none half there, no watch event lost or doubled.

``./dev crash --rounds 60`` makes the short form long.
"""

import os
import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from fault_load import Load
from server_processes import START_SECONDS, ApiServer, Etcd, eventually, need_etcd, running

ROUNDS = int(os.environ.get("HYPERKUBE_ROUNDS", "3"))
SEED = int(os.environ.get("HYPERKUBE_SEED", "7"))
OPEN = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120 + 20 * ROUNDS)]


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


def test_nothing_that_was_answered_is_lost(parts, record_property):
    server, victim = parts
    dice = random.Random(SEED)

    with Load([server]) as load:
        for _ in range(ROUNDS):
            time.sleep(dice.uniform(0.1, 1.0))
            victim.kill()
            victim.start()
            eventually(server.answers, START_SECONDS)
            before = load.answers()
            eventually(
                lambda before=before: all(new > old for new, old in zip(load.answers(), before, strict=True)),
                START_SECONDS,
            )
        found = load.finish()

    operations = load.recorder.operations
    unknown = sum(operation.answer == "unknown" for operation in operations)
    record_property("operations", len(operations))
    print(f"{ROUNDS} rounds: {len(operations)} requests, {unknown} of them without an answer,", end=" ")
    print(f"{len(load.followers[0].changes)} changes seen")
    assert found == []
    assert sum(client.writes for client in load.clients) > ROUNDS
