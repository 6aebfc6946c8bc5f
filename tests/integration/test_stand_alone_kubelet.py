"""The kubelet as a program of its own without an API server: static pods, its four ports, and its own certificate."""

from __future__ import annotations

import contextlib
import json
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from ipaddress import ip_address, ip_network
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port

from hyperkube.testing.waiting import eventually

HYPERKUBE = Path(sys.executable).with_name("hyperkube")
PODS = "127.201.7.0/24"
WEB = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "c", "image": "host", "command": ["sleep", "1000"]}]},
}
FLAGS = (
    "--container-runtime=process", "--network-plugin=loopback", f"--pod-cidr={PODS}", "--address=127.0.0.1",
    "--hostname-override=alone", "--anonymous-auth", "--authorization-mode=AlwaysAllow", "--stop-pods-on-close",
)  # fmt: skip
UNVERIFIED = ssl.create_default_context()
UNVERIFIED.check_hostname, UNVERIFIED.verify_mode = False, ssl.CERT_NONE


@contextlib.contextmanager
def kubelet(folder, *flags):
    """Run one; its output goes to a file in the folder."""
    manifests = folder / "manifests"
    manifests.mkdir()
    (manifests / "web.json").write_text(json.dumps(WEB))
    command = [
        HYPERKUBE, "kubelet", f"--root-dir={folder}/root", f"--pod-manifest-path={manifests}",
        f"--cert-dir={folder}/pki", *FLAGS, *flags,
    ]  # fmt: skip
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def get(url):
    """Return an answer's text, None where no one listens."""
    try:
        with urllib.request.urlopen(url, context=UNVERIFIED, timeout=10) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.read().decode()
    except urllib.error.URLError:
        return None


def pod_at(url):
    """Return the static pod as the kubelet shows it, None before it runs."""
    shown = get(url)
    items = (json.loads(shown).get("items") or ()) if shown else ()
    return next((pod for pod in items if pod.get("status", {}).get("phase") == "Running"), None)


@pytest.mark.slow
def test_all_ports_answer_and_a_static_pod_has_an_address_of_the_given_range(tmp_path):
    main, read_only, health, cadvisor = (free_port() for _ in range(4))
    with kubelet(
        tmp_path, f"--port={main}", f"--read-only-port={read_only}", f"--healthz-port={health}",
        f"--cadvisor-port={cadvisor}",
    ) as process:  # fmt: skip
        log = tmp_path / "log"

        def running():
            assert process.poll() is None, log.read_text()
            return pod_at(f"http://127.0.0.1:{read_only}/pods")

        pod = eventually(running, 60, why="the static pod runs")

        assert pod["metadata"]["name"] == "web-alone"
        assert ip_address(pod["status"]["podIP"]) in ip_network(PODS)
        assert get(f"https://127.0.0.1:{main}/healthz") == "ok"
        assert pod_at(f"https://127.0.0.1:{main}/pods")["metadata"]["uid"] == pod["metadata"]["uid"]
        assert get(f"http://127.0.0.1:{health}/healthz") == "ok"
        assert "container_" in get(f"http://127.0.0.1:{cadvisor}/metrics")
    assert {"kubelet.crt", "kubelet.key"} <= {file.name for file in (tmp_path / "pki").iterdir()}


@pytest.mark.slow
def test_ports_that_are_zero_are_closed(tmp_path):
    main, read_only, cadvisor = (free_port() for _ in range(3))
    with kubelet(tmp_path, f"--port={main}", "--read-only-port=0", "--healthz-port=0", "--cadvisor-port=0"):
        eventually(lambda: pod_at(f"https://127.0.0.1:{main}/pods"), 60, why="the static pod runs")

        assert [get(f"http://127.0.0.1:{port}/") for port in (read_only, cadvisor)] == [None, None]
