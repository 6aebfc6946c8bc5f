"""The developer's way of Kubernetes' own tree: authorities by cfssl, local-up-cluster, kubectl with its requests shown."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from own_network import missing, run_script

AUTHORITIES = """
mount -t tmpfs none /var/run
mkdir -p /var/run/kubernetes
cd /var/run/kubernetes
for name in server-ca client-ca request-header-ca; do
    echo '{"CN": "'$name'", "key": {"algo": "rsa", "size": 2048}}' | cfssl genkey -initca - | cfssljson -bare $name
    mv $name.pem $name.crt
    mv $name-key.pem $name.key
done
echo '{"CN": "developer", "names": [{"O": "system:masters"}], "key": {"algo": "rsa", "size": 2048}}' |
    cfssl gencert -ca client-ca.crt -ca-key client-ca.key - | cfssljson -bare developer
cd -
"""
START = """
until grep -q 'Press Ctrl-C' start.log 2>/dev/null; do kill -0 $SCRIPT || cat start.log; kill -0 $SCRIPT; sleep 0.5; done
export KUBECONFIG=/var/run/kubernetes/admin.kubeconfig
"""
USE = """
kubectl cluster-info -v 8
kubectl cluster-info -v 0 2>/dev/null | cat > quiet.txt
kubectl get service kube-dns --namespace=kube-system -o yaml
kubectl get nodes 127.0.0.1
kubectl get storageclass
KUBECONFIG=/dev/null kubectl --server=https://localhost:6443 --certificate-authority=/var/run/kubernetes/server-ca.crt \\
    --client-certificate=/var/run/kubernetes/developer.pem --client-key=/var/run/kubernetes/developer-key.pem auth whoami
curl -sS http://127.0.0.1:8080/version
kubectl create deployment web --image=host -- python3 -m http.server 9090
kubectl rollout status deployment/web --timeout=90s
"""
END = """
kill -INT $SCRIPT
wait $SCRIPT
cat start.log
ls /var/run/kubernetes
ls tmp/local-up-cluster.*/logs | tr '\\n' ' '
"""


@pytest.fixture
def folder(scratch, request):
    """An empty folder."""
    if missing():
        pytest.skip(missing())
    if shutil.which("cfssl") is None:
        pytest.skip("not installed: golang-cfssl")
    made = scratch / request.node.name
    (made / "tmp").mkdir(parents=True)
    return made


def test_the_developers_scene_runs_as_it_is_told(folder):
    begin = f"cd {folder}\nexport TMPDIR={folder}/tmp\n"
    start = f"hyperkube local-up-cluster -o {Path(sys.executable).parent} > start.log 2>&1 &\nSCRIPT=$!\n"

    text = run_script(folder, begin + AUTHORITIES + start + START + USE + END)

    shown = [
        r"Config loaded from file: +/var/run/kubernetes/admin.kubeconfig",
        r"GET https://localhost:6443/api/v1/namespaces/kube-system/services\?labelSelector=kubernetes.io%2Fcluster-service%3Dtrue",
        r"Request Headers:",
        r"(Accept: application/json, \*/\*|User-Agent: kubectl/).*?(Accept: application/json, \*/\*|User-Agent: kubectl/)",
        r"Response Status: 200 OK in \d+ milliseconds",
        r"Response Headers:",
        r"Response Body",
        r"is running at \S*https://localhost:6443",
        r"KubeDNS\S* is running at \S*https://localhost:6443/api/v1/namespaces/kube-system/services/kube-dns:dns/proxy",
    ]
    assert re.search(".*?".join(shown), text, re.DOTALL), text[-9000:]
    assert "clusterIP: 10.0.0.10" in text
    assert re.search(r"127\.0\.0\.1 +Ready", text)
    assert re.search(r"local-path \(default\)", text)
    assert re.search(r"Username +developer\nGroups +\[system:masters system:authenticated\]", text)
    assert '"gitVersion"' in text
    assert 'deployment "web" successfully rolled out' in text
    started = re.findall(r"^Starting (\S+)$", text, re.MULTILINE)
    assert started == ["etcd", "apiserver", "controller-manager", "proxy", "scheduler", "kubelet"]
    assert "Local Kubernetes cluster is running. Press Ctrl-C to shut it down." in text
    assert text.endswith("apiserver.log controller-manager.log etcd.log kubelet.log proxy.log scheduler.log ")
    assert not {"store", "kubelet"} & {kept.name for kept in (folder / "tmp").glob("local-up-cluster.*/*")}
    assert len((folder / "quiet.txt").read_text().split("is running at")) == 3


def test_a_taken_port_is_refused_before_anything_starts(folder):
    serve = (
        "python3 -m http.server --bind 127.0.0.1 8080 & \nuntil curl -s http://127.0.0.1:8080/; do sleep 0.1; done\n"
    )
    words = "hyperkube local-up-cluster --cert-dir certs || echo refused\nls certs || echo nothing\n"

    text = run_script(folder, f"cd {folder}\n{serve}{words}")

    assert "cannot listen on port 8080 for clients without TLS: Address already in use\nrefused\n" in text
    assert text.endswith("nothing\n")
