"""A replica set gets its number of pods soon after the server was killed under the requests of its controller.

A creation or deletion without an answer may have happened or not; either way the controller must not wait for it.
"""

import os
import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from server_processes import BIN, ApiServer, Process, eventually, running

ROUNDS = int(os.environ.get("HYPERKUBE_ROUNDS", "2"))
SEED = int(os.environ.get("HYPERKUBE_SEED", "7"))
SETTLED_SECONDS = 120
"""As long as informers may wait after repeated failures; well below the five minutes of an expectation."""
SETS, PODS = "/apis/apps/v1/namespaces/default/replicasets", "/api/v1/namespaces/default/pods"
LABELS = {"app": "web"}
FEW, MANY = 12, 300
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120 + 2 * SETTLED_SECONDS * ROUNDS)]


class Manager(Process):
    """The controller of replica sets alone."""

    def __init__(self, folder, server):
        super().__init__(folder, "manager")
        self.server = server

    def command(self):
        master = f"--master=http://127.0.0.1:{self.server.port}"
        return [
            str(BIN / "kube-controller-manager"),
            master,
            "--controllers=replicaset",
            "--secure-port=0",
            "--leader-elect=false",
        ]

    def answers(self):
        return True


def scale(server, replicas):
    found = server.get(f"{SETS}/web")
    found["spec"]["replicas"] = replicas
    return server.put(f"{SETS}/web", found)[0] == 200


def count(server):
    try:
        return sum("deletionTimestamp" not in pod["metadata"] for pod in server.get(PODS)["items"])
    except OSError:
        return -1


def test_a_replica_set_has_its_number_soon_after_the_server_was_killed(tmp_path):
    flags = ("--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount")
    server = ApiServer(tmp_path, "--storage-backend=sqlite", f"--data-dir={tmp_path / 'data'}", *flags)
    dice = random.Random(SEED)
    template = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": FEW, "selector": {"matchLabels": LABELS}, "template": template}
    with running(server, Manager(tmp_path, server)):
        assert server.post(SETS, {"metadata": {"name": "web"}, "spec": spec})[0] == 201
        eventually(lambda: count(server) == FEW, 30, why="pods")
        for turn in range(ROUNDS):
            for wanted in (MANY, FEW):
                eventually(lambda wanted=wanted: scale(server, wanted), 10, why="the new number")
                before = count(server)
                # In the midst of the creations or deletions.
                eventually(lambda before=before: count(server) != before, SETTLED_SECONDS, why="a first pod")
                time.sleep(dice.uniform(0, 0.05))
                server.kill()
                server.start()
                eventually(server.answers, 30)
                eventually(
                    lambda wanted=wanted: count(server) == wanted,
                    SETTLED_SECONDS,
                    why=f"{wanted} pods in round {turn}",
                )
