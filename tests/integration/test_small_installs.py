"""A server of few distributions: it starts and serves, and the command lists just what is there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port

from hyperkube.machinery.clock import SystemClock

sys.path.append(str(Path(__file__).parents[1] / "repo"))
from workspace import distributions  # type: ignore[import-not-found]

READY_SECONDS = 20
UV = str(Path(sys.executable).with_name("uv"))


def closure(wanted, members):
    """Return the members of the workspace that these need, with themselves."""
    by_name = {member.name: member for member in members}
    found = {member.name: member for member in wanted}
    pending = list(found.values())
    while pending:
        for requirement in pending.pop().project.get("dependencies", []):
            needed = by_name.get(re.split(r"[\[=<>~; ]", requirement)[0])
            if needed is not None and needed.name not in found:
                found[needed.name] = needed
                pending.append(needed)
    return found.values()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return the programs of an environment with an API server, its embedded store and the API groups."""
    members = distributions()
    wanted = [
        member
        for member in members
        if member.name in {"hyperkube-host-apiserver", "hyperkube-storage-sqlite"} or member.family == "api"
    ]
    folders = [str(member.folder) for member in closure(wanted, members)]
    folder = tmp_path_factory.mktemp("small")
    python = folder / "venv" / "bin" / "python"
    for command in (
        [UV, "venv", "--quiet", "--python", sys.executable, str(folder / "venv")],
        [
            UV,
            "pip",
            "install",
            "--quiet",
            "--python",
            str(python),
            *folders,
        ],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return python.parent


@pytest.fixture
def api(small, tmp_path):
    port = free_port()
    command = [
        str(small / "kube-apiserver"), "--storage-backend=sqlite", f"--data-dir={tmp_path / 'data'}",
        f"--cert-dir={tmp_path / 'pki'}", "--secure-port=0", f"--insecure-port={port}",
    ]  # fmt: skip
    log = (tmp_path / "log").open("w+")
    server = subprocess.Popen(command, stdout=log, stderr=log)

    def ask(method, path, body=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    clock = SystemClock()
    deadline = clock.monotonic() + READY_SECONDS
    try:
        while True:
            try:
                if ask("GET", "/readyz")[0] == 200:
                    break
            except OSError:
                clock.sleep(0.05)
            log.seek(0)
            assert server.poll() is None, log.read()
            assert clock.monotonic() < deadline, log.read()
        yield ask
    finally:
        server.terminate()
        server.wait(10)
        log.close()


def test_the_api_server_serves_alone(api):
    created, _ = api("POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    _, found = api("GET", "/api/v1/namespaces/default/configmaps/a")
    _, deployments = api("GET", "/apis/apps/v1/deployments")

    assert created == 201
    assert json.loads(found)["data"] == {"k": "v"}
    assert json.loads(deployments)["kind"] == "DeploymentList"


@pytest.mark.parametrize("path", ["/api", "/apis", "/openapi/v2", "/openapi/v3", "/version", "/metrics"])
def test_its_documents_are_whole(api, path):
    status, body = api("GET", path)

    assert status == 200
    assert body


def test_the_command_lists_just_that_server(small):
    said = subprocess.run([str(small / "hyperkube"), "--help"], capture_output=True, text=True, check=True).stdout
    listed = said.partition("Servers:")[2].partition("Flags:")[0].split("\n")

    assert [line.split()[0] for line in listed if line.startswith("  ")] == ["apiserver", "version"]


def test_a_server_that_is_not_installed_is_named_with_its_distribution(small):
    done = subprocess.run([str(small / "hyperkube"), "scheduler"], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("error: unknown command 'scheduler': not installed")
    assert "'hyperkube-host-scheduler'" in done.stderr
