"""The unit of examples/service: systemd can read it, and what it starts tells systemd when it is ready and when it ends."""

from __future__ import annotations

import configparser
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parents[2] / "examples" / "service" / "hyperkube.service"
PROGRAM = Path(sys.executable).with_name("hyperkube")


def service():
    """Return the unit's section of its service."""
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(UNIT)
    return unit["Service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_reads_the_unit_without_a_complaint(tmp_path):
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text().replace("/opt/hyperkube/bin/hyperkube", str(PROGRAM)))

    done = subprocess.run(["systemd-analyze", "verify", copy], capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stderr) == (0, "")


def test_what_it_starts_says_ready_when_the_node_is_and_stopping_at_the_end(tmp_path):
    program, *words = shlex.split(service()["ExecStart"])
    assert program == "/opt/hyperkube/bin/hyperkube"
    words = [word.replace("/var/lib/hyperkube", str(tmp_path / "data")) for word in words]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd, socket.create_server(("127.0.0.1", 0)) as probe:
        systemd.bind(str(tmp_path / "notify"))
        systemd.settimeout(120)
        port = probe.getsockname()[1]
        probe.close()
        environ = {**os.environ, "NOTIFY_SOCKET": str(tmp_path / "notify")}
        with subprocess.Popen([PROGRAM, *words, f"--secure-port={port}"], env=environ) as cluster:
            try:
                assert systemd.recv(100) == b"READY=1"
                kubeconfig = tmp_path / "data" / "admin.kubeconfig"
                shown = subprocess.run(
                    ["kubectl", f"--kubeconfig={kubeconfig}", "get", "nodes", "--no-headers"],
                    capture_output=True, text=True, check=True, timeout=60,
                )  # fmt: skip
                assert " Ready " in shown.stdout
            finally:
                cluster.send_signal(signal.SIGTERM)
            assert systemd.recv(100) == b"STOPPING=1"
            assert cluster.wait(60) == 0
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0
