"""The cloud that the tests of this folder ask, and the way to the world they share."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from hyperkube.hookspecs.cloud import Cloud

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def balancers(monkeypatch):
    from balancer_world import Balancers

    found = Balancers()

    host = SimpleNamespace(hook=SimpleNamespace(cloud_provider=lambda: Cloud(name="test", load_balancers=found)))

    monkeypatch.setattr("hyperkube_lib.cloud_provider.provider.load", lambda *_: host)
    return found
