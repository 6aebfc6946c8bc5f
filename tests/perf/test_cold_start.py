"""What the start of an API server costs until /readyz answers 200: CPU, which holds on a busy machine, and imports."""

from __future__ import annotations

import re
import sys

import pytest
from hyperkube_testing.peers.ports import free_port
from servers_under_load import api_server, running

CPU_SECONDS = 0.8
STARTS = 3
MODULES = 1050
"""Each costs a tenth of a millisecond, however small it is."""

LATER = ("flask", "google.protobuf", "grpc", "jinja2", "jsonschema_rs", "numpy", "prometheus_client", "yaml")
"""What a plain API server may need one day, but not to begin."""


@pytest.fixture
def start(tmp_path):
    def started():
        port = free_port()
        with running(api_server(tmp_path, port), port, "/readyz") as server:
            return server.cpu(), server.memory()[0]

    return started


def test_a_start_with_data_takes_less_than_a_second_of_cpu(start):
    start()

    taken = [start() for _ in range(STARTS)]

    print("\nCPU until ready:", ", ".join(f"{cpu:.2f} s" for cpu, _ in taken), f"; {taken[-1][1]:.0f} MiB RSS")
    assert min(cpu for cpu, _ in taken) < CPU_SECONDS


def test_a_start_imports_nothing_heavy(tmp_path):
    port = free_port()
    command = [sys.executable, "-X", "importtime", *api_server(tmp_path, port)]

    with running(command, port, "/readyz") as server:
        said = server.said()

    imported = set(re.findall(r"\| +(\S+)$", said, re.MULTILINE))
    assert "hyperkube_host.apiserver.server" in imported
    assert imported.isdisjoint(LATER), imported.intersection(LATER)
    assert len(imported) < MODULES
