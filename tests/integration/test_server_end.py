"""The flags of a real server process: how it ends, and what it says to web pages."""

import contextlib
import http.client
import signal
import ssl
import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port

from hyperkube.testing.waiting import eventually

BIN = Path(sys.executable).parent
INSECURE = ssl._create_unverified_context()
"""The server has just made its certificate for itself."""


def command(folder, port, *flags):
    return [
        str(BIN / "hyperkube"), "apiserver", "--storage-backend=memory", f"--secure-port={port}",
        "--bind-address=127.0.0.1", f"--cert-dir={folder}", "--authorization-mode=AlwaysAllow", *flags,
    ]  # fmt: skip


@pytest.fixture
def launch(tmp_path):
    started = []

    def begin(*flags):
        port = free_port()
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(command(tmp_path, port, *flags), stdout=log, stderr=log)
        started.append(process)
        assert eventually(lambda: status(port, "/readyz") == 200)
        return process, port

    yield begin
    for process in started:
        process.kill()
        process.wait(60)


def fetch(port, path, method="GET", **headers):
    with contextlib.closing(http.client.HTTPSConnection("127.0.0.1", port, timeout=60, context=INSECURE)) as connection:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers


def status(port, path):
    try:
        return fetch(port, path)[0]
    except (OSError, http.client.HTTPException):
        return None


def test_a_stopped_server_goes_on_for_its_delay_and_is_not_ready(launch):
    process, port = launch("--shutdown-delay-duration=4s")

    process.send_signal(signal.SIGTERM)

    assert eventually(lambda: status(port, "/readyz") == 500)
    assert status(port, "/api") == 200
    assert process.wait(60) == 0


def test_pages_of_allowed_origins_may_ask(launch):
    _, port = launch("--cors-allowed-origins=//example.com(:|$)")

    code, headers = fetch(port, "/api", "OPTIONS", Origin="https://example.com")

    assert (code, headers["Access-Control-Allow-Origin"]) == (204, "https://example.com")
    assert fetch(port, "/api", Origin="https://evil.net")[1]["Access-Control-Allow-Origin"] is None


@pytest.mark.parametrize(
    ("flag", "message"),
    [("--goaway-chance=0.5", "--goaway-chance can not be less than 0 or greater than 0.02"),
     ("--cors-allowed-origins=example.com", "--cors-allowed-origins has an invalid regular expression")],
)  # fmt: skip
def test_a_value_out_of_bounds_is_one_line(tmp_path, flag, message):
    ended = subprocess.run(
        command(tmp_path, free_port(), flag), capture_output=True, text=True, timeout=120, check=False
    )

    assert ended.returncode == 1
    assert message in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
