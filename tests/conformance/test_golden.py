"""Replays recordings of a real kube-apiserver against ours, area by area; skipped where the recordings are not there."""

import contextlib
import json
import subprocess
import sys
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest
import recordings
from hyperkube_host.apiserver.options import Options
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.edge import Edge
from hyperkube_lib.serving.serving_certificates import ensure_key

from hyperkube.storage.memory import MemoryStore

GOLDEN = Path(__file__).parents[3] / "shared" / "golden"

# How many steps of an area must be equal to the letter, and how many apart from the wording of descriptions.
# Raise a number when it is passed for good; never lower one.
DEV = {
    "admission": (100, 100),
    "apply": (72, 72),
    "authz": (104, 104),
    "crd": (132, 132),
    "crud": (610, 610),
    "delete": (125, 125),
    "discovery": (56, 56),
    "errors": (66, 66),
    "events": (28, 28),
    "fieldvalidation": (88, 88),
    "lists": (62, 62),
    "namespaces": (51, 51),
    "negotiation": (115, 116),
    "openapi": (42, 45),
    "patch": (126, 126),
    "policy": (54, 54),
    "selectors": (49, 49),
    "services": (65, 65),
    "subresources": (145, 146),
    "update": (82, 82),
    "validation": (363, 363),
    "warnings": (73, 73),
    "watch": (62, 62),
}
# The larger set, in which no prose is compared. How fast a CustomResourceDefinition goes decides on up to four of `kinds`.
DEV2 = {
    "admission": 320,
    "apply": 177,
    "authz": 355,
    "cel": 603,
    "custom": 580,
    "immutable": 1231,
    "invalid": 2390,
    "kinds": 2922,
    "media": 441,
    "options": 592,
    "patch": 213,
    "paths": 479,
    "podsecurity": 217,
    "subresources": 562,
}
THRESHOLDS = {"dev": DEV, "dev2": {name: (equal, equal) for name, equal in DEV2.items()}}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not here"),
]


@contextlib.contextmanager
def serving():
    folder = tempfile.TemporaryDirectory()
    key = ensure_key(Path(folder.name) / "service-account.key")
    server = ApiServer(
        options=Options.of(
            {
                "token-auth-file": str(GOLDEN / "users.csv"),
                "authorization-mode": ["RBAC"],
                "service-cluster-ip-range": ["10.96.0.0/16"],
                "allow-privileged": True,
                "service-account-issuer": ["https://kubernetes.default.svc.cluster.local"],
                "service-account-signing-key-file": key,
                "service-account-key-file": (key,),
            },
            is_announced=True,
        ),
        store=MemoryStore(history_seconds=300),
    )
    server.start()
    edge = Edge(server.handler, host="127.0.0.1", port=0)
    edge.start()
    try:
        yield f"http://127.0.0.1:{edge.port}"
    finally:
        edge.close(0)
        server.close()
        folder.cleanup()


def replayed(recorded, report):
    """Replay a set of recordings against a fresh server; return area by name, and print the table.

    One scenario after another: some create CustomResourceDefinitions, which others see in discovery and OpenAPI.
    """
    with serving() as url:
        command = [sys.executable, str(GOLDEN / "replay.py"), "replay", "--server", url, str(GOLDEN / recorded)]
        options = ["--poll-limit", "2", "--min", "0", "--report", str(report)]
        subprocess.run([*command, *options], capture_output=True, text=True, timeout=1000, check=True)
    answers = json.loads(report.read_text())
    print(*recordings.table(answers), sep="\n")
    return {area.name: area for area in recordings.areas(answers)}


def falls_short(recorded, area):
    equal, apart_from_descriptions = THRESHOLDS[recorded][area.name]
    return area.equal < equal or area.equal + area.worded < apart_from_descriptions


@pytest.fixture(scope="module")
def areas_of(tmp_path_factory):
    """Returns what each area of a set gave; a few steps wait for time to pass, so a run that falls short is repeated."""

    @lru_cache
    def areas_of(recorded):
        folder = tmp_path_factory.mktemp(recorded)
        found = replayed(recorded, folder / "first.json")
        if any(falls_short(recorded, found[name]) for name in THRESHOLDS[recorded]):
            found = replayed(recorded, folder / "second.json")
        return found

    return areas_of


@pytest.mark.parametrize(
    ("recorded", "name"), [(recorded, name) for recorded, areas in THRESHOLDS.items() for name in sorted(areas)]
)
def test_an_area_answers_as_recorded(recorded, name, areas_of):
    area = areas_of(recorded)[name]

    assert not falls_short(recorded, area), area
