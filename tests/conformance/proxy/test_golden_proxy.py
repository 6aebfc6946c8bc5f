"""The proxiers against recordings of the real kube-proxy: their rules, and what becomes of connections through them.

Needs root, network namespaces and the programs of ``servers()`` in ``./dev``; a dozen scenarios are replayed unless
``--all-proxy-scenarios`` is given.
"""

import contextlib
import http.client
import json
import os
import shutil
import ssl
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from hyperkube_testing.peers.ports import free_port

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT.parent / "shared" / "golden-proxy"
USERS = ROOT.parent / "shared" / "golden" / "users.csv"
BIN = Path(sys.executable).parent
PROGRAMS = ("ip", "nsenter", "iptables", "ip6tables-save", "nft", "conntrack")
DOZEN = (
    *("cleanup", "detect-interface-prefix", "dual-stack", "external-policy-local", "hairpin"),
    *("health-check-node-port", "many-endpoints"),
    *("masquerade-all", "names", "nodeport-addresses-ranges", "several-ports", "udp-conntrack"),
)
MODES = ("iptables", "nftables")
PROBES, RULES = 0.99, 0.95
"""The least shares of connections and of rule texts that are as recorded."""

MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes network namespaces"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


@pytest.fixture(scope="module")
def replays(request, tmp_path_factory):
    """The replays of all installed modes, side by side as they mostly wait: mode → process and its report."""
    with contextlib.ExitStack() as stack:
        folders = {mode: tmp_path_factory.mktemp(mode) for mode in MODES if mode in _installed()}
        urls = {mode: stack.enter_context(_api_server(folder)) for mode, folder in folders.items()}
        started = {mode: _replay(mode, urls[mode], folder, request.config) for mode, folder in folders.items()}
        try:
            yield started
        finally:
            for process, _ in started.values():
                process.terminate()
                process.wait()
                process.stdout.close()  # a deselected test has not read it


def _installed():
    return {entry.name for entry in entry_points(group="hyperkube.proxier")}


def _replay(mode, url, folder, config):
    report = folder / "report.json"
    command = [sys.executable, str(GOLDEN / "replay-proxy.py"), "compare", "--server", url, "--mode", mode]
    options = ["--proxy", f"{BIN / 'hyperkube'} proxy", "--report", str(report), "--prefix", f"{mode[:2]}{os.getpid()}"]
    process = subprocess.Popen(
        [*command, *options, *_scenarios(config)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    return process, report


@contextlib.contextmanager
def _api_server(folder):
    """Run an API server: every Service in it is deleted."""
    port = free_port()
    flags = {
        "storage-backend": "memory",
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "cert-dir": folder / "certificates",
        "token-auth-file": USERS,
        "authorization-mode": "RBAC",
        "service-cluster-ip-range": "10.96.0.0/16,fd00:10:96::/112",
    }
    with (folder / "log").open("wb") as log:
        command = [BIN / "hyperkube", "apiserver", *(f"--{name}={value}" for name, value in flags.items())]
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        _wait_for(port, server, folder / "log")
        yield f"https://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _wait_for(port, server, log):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=5)
        try:
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.1)
        finally:
            connection.close()
    raise TimeoutError(log.read_text())


def _scenarios(config):
    if config.getoption("--all-proxy-scenarios", default=False):
        return [str(GOLDEN / "dev")]
    return [str(GOLDEN / "dev" / f"{name}.json") for name in DOZEN]


def _share(report, kind):
    """Return which part of the checks of a kind passed, and those that did not."""
    checks = {name: outcome for name, outcome in report.items() if (name.split(" ")[3:4] or ["rules"])[0] == kind}
    failed = {name: outcome for name, outcome in checks.items() if outcome != "ok"}
    return 1 - len(failed) / max(len(checks), 1), failed


@pytest.mark.parametrize("mode", MODES)
def test_rules_and_connections_are_as_recorded(mode, replays):
    if mode not in replays:
        pytest.skip("no such proxier is installed")
    process, report = replays[mode]

    told, _ = process.communicate(timeout=1100)

    assert report.is_file(), told
    print(told)
    answers = json.loads(report.read_text())
    for kind, least in (("probes", PROBES), ("rules", RULES)):
        share, failed = _share(answers, kind)
        assert share >= least, failed
