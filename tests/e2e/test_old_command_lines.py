"""Command lines of the 1.x line as they stood in its guides: they give a working cluster, with nothing added.

Only what belongs to the machine differs: folders, and where etcd is.
"""

from __future__ import annotations

import json

import pytest
from own_network import SECONDS, missing, run_script

HELLO = """
export KUBECONFIG=/dev/null
kubectl() { command kubectl --server=http://127.0.0.1:8080 "$@"; }
until kubectl get node 127.0.0.1; do sleep 1; done
sed s/8080/9090/ examples/hello.yaml | kubectl apply -f -
kubectl rollout status deployment/hello --timeout=180s
curl -sS --retry 90 --retry-delay 1 --retry-all-errors "http://$(kubectl get service hello -o jsonpath='{.spec.clusterIP}'):9090/"
kubectl logs deployment/hello
kubectl exec deployment/hello -- env
kubectl get pods --all-namespaces
"""
"""The example on another port than the API server's, which listens on all addresses of the machine, pods' too.

The proxy hears of the Service after the rollout, and takes a connection before a pod is behind it.
"""
API_SERVER = (
    "/hyperkube apiserver --service-cluster-ip-range=10.0.0.1/24 --insecure-bind-address=127.0.0.1"
    " --etcd-servers=http://127.0.0.1:4001 --cluster-name=kubernetes --v=2"
)
MASTER = (
    ("controller-manager", "/hyperkube controller-manager --master=127.0.0.1:8080 --v=2"),
    ("apiserver", API_SERVER),
    ("scheduler", "/hyperkube scheduler --master=127.0.0.1:8080 --v=2"),
)
"""The containers of the pod in /etc/kubernetes/manifests/master.json of release 1.0; the API server is not the first."""
KUBELET = (
    "hyperkube kubelet --api-servers=http://localhost:8080 --v=2 --address=0.0.0.0 --enable-server"
    " --hostname-override=127.0.0.1 --config={manifests} --root-dir={root}/kubelet &\n"
)
SERVERS = """
mount -t tmpfs none /var/run
kube-apiserver --logtostderr=true --v=0 --etcd-servers=http://127.0.0.1:2379 --insecure-bind-address=0.0.0.0 \\
    --port=8080 --kubelet-port=10250 --allow-privileged=false --service-cluster-ip-range=10.254.0.0/16 \\
    --admission-control=NamespaceLifecycle,NamespaceExists,LimitRanger,SecurityContextDeny,ServiceAccount,ResourceQuota \\
    --service-account-key-file=/var/run/kubernetes/apiserver.key &
until test -s /var/run/kubernetes/apiserver.key; do sleep 1; done
kube-controller-manager --master=http://127.0.0.1:8080 \\
    --service-account-private-key-file=/var/run/kubernetes/apiserver.key &
kube-scheduler --master=http://127.0.0.1:8080 &
kubelet --api-servers=http://127.0.0.1:8080 --hostname-override=127.0.0.1 --root-dir={root}/kubelet &
kube-proxy --master=http://127.0.0.1:8080 &
"""

pytestmark = pytest.mark.timeout(SECONDS + 30)


@pytest.fixture
def folder(scratch, request):
    """An empty folder."""
    if missing():
        pytest.skip(missing())
    made = scratch / request.node.name
    made.mkdir()
    return made


def etcd(folder, port):
    url = f"http://127.0.0.1:{port}"
    return f"etcd --data-dir={folder}/etcd --listen-client-urls={url} --advertise-client-urls={url} &\n"


def assert_hello(text):
    assert "hello from hello-" in text, text[-6000:]
    assert 'GET / HTTP/1.1" 200' in text, text[-6000:]
    assert "GREETING=hello from" in text, text[-6000:]


def test_a_kubelet_starts_the_master_as_a_static_pod_and_joins_it(folder):
    manifests = folder / "manifests"
    manifests.mkdir()
    containers = [
        {"name": name, "image": "host", "command": line.replace("/hyperkube", "hyperkube").split()}
        for name, line in MASTER
    ]
    spec = {"hostNetwork": True, "containers": containers}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "k8s-master"}, "spec": spec}
    (manifests / "master.json").write_text(json.dumps(pod))
    servers = etcd(folder, 4001) + KUBELET.format(manifests=manifests, root=folder)
    proxy = "hyperkube proxy --master=http://127.0.0.1:8080 --v=2 &\n"

    text = run_script(folder, servers + proxy + HELLO)

    assert_hello(text)
    assert "k8s-master-127.0.0.1" in text


def test_an_api_server_of_1_5_and_the_others_beside_it(folder):
    assert_hello(run_script(folder, etcd(folder, 2379) + SERVERS.format(root=folder) + HELLO))
