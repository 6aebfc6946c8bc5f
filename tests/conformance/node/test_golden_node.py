"""Replays the conversations of a real kubelet with its runtime against ours; skipped where the recordings are not there.

The API server and the kubelet are ours, the runtime is the fake one of the recordings.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[4] / "shared" / "golden-node"
HYPERKUBE = Path(sys.executable).with_name("hyperkube")
API_PORT, LAB_PORT = 25403, 25000
"""Below those from which the system takes one for a connection that anything makes."""
TOKENS = (
    'golden-admin-token,admin,uid-admin,"system:masters"\n'
    'golden-node-token,system:node:golden-node,uid-node,"system:nodes"\n'
)
# Configuration of the kubelet → how many of the checks must hold. Raise a number when it is passed for good; never lower
# it. On a quiet machine all 1,985 hold; pulls, back-offs and events that are late cost up to seven at a load of 13.
CHECKS = {"default": 1970, "few-pods": 96, "static-cpu": 34}
START_SECONDS = 90

pytestmark = [
    pytest.mark.slow,
    pytest.mark.root,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not here"),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts and cgroups of the laboratory need root"),
]


@pytest.fixture
def api_server(tmp_path):
    (tmp_path / "tokens.csv").write_text(TOKENS)
    subprocess.run(["openssl", "genrsa", "-out", "sa.key", "2048"], cwd=tmp_path, check=True, capture_output=True)
    command = [
        HYPERKUBE, "apiserver", "--storage-backend=memory", f"--secure-port={API_PORT}", "--bind-address=127.0.0.1",
        "--token-auth-file=tokens.csv", "--authorization-mode=Node,RBAC", "--allow-privileged=true", "--cert-dir=certs",
        "--enable-admission-plugins=NodeRestriction", "--service-cluster-ip-range=10.96.0.0/16",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        "--service-account-signing-key-file=sa.key", "--service-account-key-file=sa.key",
    ]  # fmt: skip
    with (tmp_path / "api.log").open("w") as log:
        server = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    yield f"https://127.0.0.1:{API_PORT}"
    server.terminate()
    server.wait(30)


@pytest.fixture
def lab(api_server, tmp_path, config):
    folder = tmp_path / "lab"
    kubelet = (
        f"{HYPERKUBE} kubelet --config=$CONFIG --kubeconfig=$KUBECONFIG --root-dir=$ROOT --node-ip=$NODE_IP "
        "--hostname-override=golden-node --node-labels=golden.test/zone=a,golden.test/disk=ssd --cert-dir=$DIR/pki/kubelet"
    )
    command = [
        sys.executable, GOLDEN / "lab.py", f"--server={api_server}", f"--port={LAB_PORT}", f"--dir={folder}",
        f"--config={GOLDEN}/kubelet-config/{config}.json",
    ]  # fmt: skip
    with (tmp_path / "lab.log").open("w") as log:
        process = subprocess.Popen([*command, f"--kubelet={kubelet}"], stdout=log, stderr=log)
    facts = folder / "lab.json"
    deadline = time.monotonic() + START_SECONDS
    while not facts.exists():
        assert process.poll() is None, (tmp_path / "lab.log").read_text()
        assert time.monotonic() < deadline, (folder / "kubelet.log").read_text()[-2000:]
        time.sleep(0.2)
    yield facts
    process.terminate()
    process.wait(60)


@pytest.mark.parametrize("config", CHECKS)
def test_the_runtime_is_asked_what_the_real_kubelet_asks(lab, tmp_path, config):
    report = tmp_path / "report.json"
    command = [
        sys.executable, GOLDEN / "replay-node.py", "compare", f"--lab={lab}", GOLDEN / "dev", "-j", "16", "-v",
        f"--report={report}", f"--min={CHECKS[config]}",
    ]  # fmt: skip

    done = subprocess.run(command, capture_output=True, text=True, check=False)
    print(done.stdout)  # the exact count and every check that failed, by scenario: `pytest -s` or `-rP` shows it

    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert json.loads(report.read_text())
