"""`hyperkube up --container-runtime=remote`: a one-machine cluster whose pods are containers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from autoscaled_load import SYNC_FLAG, check_autoscaling
from remote_runtime import needs_remote

from hyperkube.testing.waiting import eventually

HYPERKUBE = Path(sys.executable).with_name("hyperkube")
FOLDER = "/var/lib/hyperkube"
ENVIRONMENT = {"KUBECONFIG": f"{FOLDER}/admin.kubeconfig"}


ASKER = {"matchLabels": {"app": "asker"}}


def asker():
    """Return a claim of the default class, and the pod that has it and asks."""
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "8Mi"}}}
    mount = {"name": "data", "mountPath": "/data"}
    container = {"name": "asker", "image": "busybox:lab", "command": ["sleep", "1000"], "volumeMounts": [mount]}
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    meta = {"name": "asker", "labels": ASKER["matchLabels"]}
    rows = [
        {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim},
        {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], "volumes": volumes}},
    ]
    return {"apiVersion": "v1", "kind": "List", "items": rows}


def policy(ingress):
    """Return a policy for the pods of the deployment."""
    spec = {"podSelector": {"matchLabels": {"app": "web"}}, "policyTypes": ["Ingress"], "ingress": ingress}
    meta = {"name": "web", "namespace": "default"}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": spec}


@pytest.fixture(scope="module")
def node(hyperkube_lab):
    """The machine, its cluster running."""
    needs_remote()
    node = hyperkube_lab.node("one")
    up = node.start(
        HYPERKUBE, "up", "--container-runtime=remote", f"--data-dir={FOLDER}", SYNC_FLAG,
        "--kubelet-arg=eviction-hard=nodefs.available<1%", "--proxy-arg=proxy-mode=nftables",
        "--addons=snapshot-crds,csi-host-path,dns,metrics-server,network-policy",
    )  # fmt: skip

    def running():
        assert up.running(), up.output()
        return "Local Kubernetes cluster is running" in up.output()

    eventually(running, 60, why=up.output())
    yield node
    up.stop()
    node.containerd.stop()


def test_an_autoscaler_follows_the_load_that_top_shows(node):
    def kubectl(*words, check=True, stdin=""):
        return node.run("kubectl", *words, env=ENVIRONMENT, check=check, stdin=stdin)

    check_autoscaling(kubectl)


def test_up_runs_containers(node):
    env = ENVIRONMENT

    def kubectl(*words):
        return node.run("kubectl", *words, env=env).stdout

    kubectl(
        "create", "deployment", "web", "--image=busybox:lab", "--", "sh", "-c", "hostname; exec httpd -f -p 80 -h /bin"
    )
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    kubectl("expose", "deployment", "web", "--port=80")

    name = kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}")
    assert kubectl("logs", name) == f"{name}\n"
    assert kubectl("exec", name, "--", "hostname") == f"{name}\n"
    server = kubectl("get", "endpoints", "kubernetes", "-o", "jsonpath={.subsets[0].addresses[0].ip}")
    assert server == node.ip
    assert "containerd://" in kubectl("get", "nodes", "-o", "wide")
    ask = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc $WEB_SERVICE_HOST 80 | head -1"
    kubectl("rollout", "restart", "deployment/web")
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    answer = eventually(
        lambda: node.run("kubectl", "exec", "deployment/web", "--", "sh", "-c", ask, env=env, check=False).stdout
    )
    assert answer.startswith("HTTP/1.")
    look = ("exec", "deployment/web", "--", "nslookup", "web.default.svc.cluster.local")
    address = kubectl("get", "service", "web", "-o", "jsonpath={.spec.clusterIP}")
    eventually(lambda: f"Address: {address}" in node.run("kubectl", *look, env=env, check=False).stdout)
    node.run("kubectl", "apply", "-f", "-", env=env, stdin=json.dumps(asker()))
    kubectl("wait", "pod/asker", "--for=condition=Ready", "--timeout=60s")
    assert kubectl("get", "pvc", "data", "-o", "jsonpath={.spec.storageClassName} {.status.phase}") == (
        "csi-host-path Bound"
    )
    assert kubectl("exec", "asker", "--", "sh", "-c", "echo kept > /data/file; cat /data/file") == "kept\n"
    fetch = ("exec", "asker", "--", "sh", "-c", f"printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 2 {address} 80")

    def fetches():
        return node.run("kubectl", *fetch, env=env, check=False).stdout.startswith("HTTP/1.")

    eventually(fetches, why="a pod reaches another through its Service")
    node.run("kubectl", "apply", "-f", "-", env=env, stdin=json.dumps(policy([])))
    eventually(lambda: not fetches(), why="a policy without rules isolates")
    node.run("kubectl", "apply", "-f", "-", env=env, stdin=json.dumps(policy([{"from": [{"podSelector": ASKER}]}])))
    eventually(fetches, why="a policy allows the asker")
