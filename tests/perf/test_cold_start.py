"""What a start costs until the server is ready: CPU as a multiple of the machine's own pace, and imports."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port
from servers_under_load import Served, api_server, cluster, pace, running

from hyperkube.testing.waiting import eventually

STARTS = 4
MODULES = {"apiserver": 860, "up": 1440}
"""Each costs a tenth of a millisecond, however small it is."""

LATER = (
    "cryptography",
    "flask",
    "google.protobuf",
    "grpc",
    "jinja2",
    "jsonschema_rs",
    "numpy",
    "prometheus_client",
    "yaml",
)
"""What a plain API server may need one day, but not to begin."""

LATER_IN_A_CLUSTER = (
    "flask",
    "google.protobuf",
    "grpc",
    "hyperkube_lib.cel",
    "jinja2",
    "jsonschema_rs",
    "numpy",
    "psutil",
    "yaml",
)
"""The same of a whole cluster, whose scheduler takes numpy for the first pod, and whose child makes certificates."""

COUNTED = """
import dataclasses, re, sys

process, compile_ = dataclasses._process_class, re._compiler.compile

def counted_class(cls, *arguments):
    print("defines", f"{cls.__module__}.{cls.__qualname__}", file=sys.stderr)
    return process(cls, *arguments)

def counted_pattern(pattern, *arguments):
    print("compiles", ascii(pattern), file=sys.stderr)
    return compile_(pattern, *arguments)

dataclasses._process_class, re._compiler.compile = counted_class, counted_pattern
sys.argv[:] = sys.argv[1:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"))
"""
"""Runs a command and says which dataclasses of the standard library it defines, and which patterns it compiles."""

DATACLASSES = 20
"""Each costs most of a millisecond; ours are `hyperkube.machinery.dataclass`, others' are few."""
PATTERNS = 150

PACES = {"apiserver": 3.0, "up": 6.0}
"""On a quiet machine they are 2.2 and 4.1; many threads pay more for a busy one."""


@contextmanager
def _up(command: list[str], port: int) -> Iterator[Served]:
    """Run a cluster that has said it is running, which it does when its node is ready."""
    with running(command, port, "/readyz") as server:
        while "is running" not in server.said():
            server.wait("/readyz")
        yield server


STARTED = {
    "apiserver": (api_server, lambda command, port: running(command, port, "/readyz")),
    "up": (cluster, _up),
}


@pytest.mark.parametrize("name", STARTED)
def test_a_start_costs_no_more_than_so_many_times_the_pace(name, tmp_path):
    line, started = STARTED[name]
    paces, taken, memory = [pace()], [], 0.0

    for _ in range(STARTS):
        port = free_port()
        with started(line(tmp_path, port), port) as server:
            taken.append(server.cpu())
            memory = server.memory()[0]
        paces.append(pace())

    told = ", ".join(f"{cpu:.2f} s" for cpu in taken)
    print(f"\n{name}: CPU until ready: {told}; pace {min(paces):.2f} s; {memory:.0f} MiB RSS")
    assert min(taken) < PACES[name] * min(paces)


@pytest.mark.parametrize(("name", "later"), [("apiserver", LATER), ("up", LATER_IN_A_CLUSTER)], ids=list(STARTED))
def test_a_start_imports_nothing_heavy(name, later, tmp_path):
    line, started = STARTED[name]
    port = free_port()
    with started(line(tmp_path, port), port):  # its child that makes certificates would tell of its imports, too
        pass

    with started([sys.executable, "-X", "importtime", *line(tmp_path, port)], port) as server:
        said = server.said()

    imported = set(re.findall(r"\| +(\S+)$", said, re.MULTILINE))
    assert "hyperkube_host.apiserver.server" in imported
    assert imported.isdisjoint(later), imported.intersection(later)
    assert len(imported) < MODULES[name], len(imported)


def test_an_api_server_makes_its_certificate_without_the_library_that_does(tmp_path):
    line, started = STARTED["apiserver"]
    port = free_port()

    with started(line(tmp_path, port), port) as server:
        loaded = Path(f"/proc/{server.process.pid}/maps").read_text()

    assert "_ssl" in loaded
    assert "cryptography" not in loaded
    assert [*tmp_path.rglob("apiserver.crt")]


def test_a_cluster_makes_and_believes_certificates_without_the_library_that_does(tmp_path):
    port = free_port()
    metrics = "/apis/metrics.k8s.io/v1beta1/nodes"

    with _up(cluster(tmp_path, port), port) as server:
        eventually(lambda: server.send("GET", metrics)[0] == 200, seconds=60)
        loaded = Path(f"/proc/{server.process.pid}/maps").read_text()

    assert "_ssl" in loaded
    assert "cryptography" not in loaded


@pytest.mark.parametrize("name", STARTED)
def test_a_start_defines_classes_and_compiles_patterns_cheaply(name, tmp_path):
    line, started = STARTED[name]
    port = free_port()

    with started([sys.executable, "-c", COUNTED, *line(tmp_path, port)], port) as server:
        said = server.said()

    defined = re.findall(r"^defines (\S+)$", said, re.MULTILINE)
    compiled = re.findall(r"^compiles (.+)$", said, re.MULTILINE)
    assert [each for each in defined if each.startswith("hyperkube")] == [], "ours are a tenth as dear"
    assert len(defined) < DATACLASSES, defined
    assert 0 < len(compiled) < PATTERNS
    assert not [each for each in compiled if "uffff" in each], "wide ranges take 40 ms to compile"
