"""One cluster for the whole folder, and a namespace of its own for each test that asks for a room."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from local_cluster import LocalCluster, Room, missing_program

from hyperkube.kinds.resources import NAMESPACES

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER.parent.parent / "examples"


def pytest_collection_modifyitems(items):
    """Mark what is in this folder; without kubectl there is nothing to test it with."""
    reason = missing_program()
    for item in items:
        if Path(item.path).is_relative_to(FOLDER):
            item.add_marker(pytest.mark.kubectl)
            item.add_marker(pytest.mark.slow)
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Show with a failure what the cluster wrote meanwhile."""
    report = yield
    cluster = getattr(item, "funcargs", {}).get("up")
    if report.failed and cluster is not None:
        report.sections.append(("the cluster's output", "".join(cluster.output[-40:])))
    return report


@pytest.fixture(scope="session")
def scratch():
    """A folder that any user of this machine may enter, with a short path."""
    folder = Path(tempfile.mkdtemp(prefix="hke2e-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def up(scratch):
    """A running cluster that the whole session shares; at its end nothing of it may be left."""
    with LocalCluster(scratch / "shared", *os.environ.get("HYPERKUBE_E2E_UP", "").split()).running() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def room_numbers():
    return itertools.count(1)


@pytest.fixture
def room(up, room_numbers, request):
    """A fresh namespace, deleted afterwards without waiting for it."""
    stem = re.sub(r"[^a-z0-9]+", "-", request.node.originalname.removeprefix("test_").lower())[:40].strip("-")
    name = f"{stem}-{next(room_numbers)}"
    up.client.create(NAMESPACES, {"metadata": {"name": name}})
    yield Room(up, name)
    up.client.delete(NAMESPACES, name)


@pytest.fixture(scope="session")
def hello_file(scratch):
    """The example that the README starts with."""
    return EXAMPLES / "hello.yaml"
