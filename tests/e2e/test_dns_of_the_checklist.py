"""The Service kube-dns where clusters have always had it, and a pod that finds names by it, on a network of its own."""

from __future__ import annotations

import json
import shutil

import pytest
from own_network import missing, run_script

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

SCRIPT = """
hyperkube up --data-dir {folder}/data --service-cluster-ip-range=10.0.0.0/16 >{folder}/up.txt 2>&1 &
export KUBECONFIG={folder}/data/admin.kubeconfig
for _ in $(seq 300); do ! grep -q 'is running' {folder}/up.txt || break; sleep 0.2; done
kubectl create service clusterip web --tcp=80 >&2
kubectl run asker --image=host --restart=Never --command -- sh -c '
until dig +short +time=1 +tries=1 @10.0.0.10 kubernetes.default.svc.cluster.local | grep -q 10.0.0.1; do sleep 0.1; done
cat /etc/resolv.conf; getent hosts web | cut -d" " -f1; dig +short +search +tcp web' >&2
kubectl wait --for=jsonpath='{{.status.phase}}'=Succeeded pod/asker --timeout=120s >&2
kubectl logs asker >{folder}/asked
kubectl get service web --output=jsonpath='{{.spec.clusterIP}}' >{folder}/web
kubectl --namespace=kube-system get service kube-dns --output=json >{folder}/service
"""


@pytest.mark.skipif(shutil.which("dig") is None, reason="dig is not installed")
def test_kube_dns_is_the_tenth_address_and_pods_ask_it(tmp_path):
    run_script(tmp_path, SCRIPT.format(folder=tmp_path))

    service = json.loads((tmp_path / "service").read_text())
    assert service["spec"]["clusterIP"] == "10.0.0.10"
    assert service["spec"]["type"] == "ClusterIP"
    assert service["spec"]["sessionAffinity"] == "None"
    assert service["spec"]["selector"] == {"k8s-app": "kube-dns"}
    assert service["status"] == {"loadBalancer": {}}
    assert {(port["name"], port["port"], port["protocol"]) for port in service["spec"]["ports"]} == {
        ("dns", 53, "UDP"),
        ("dns-tcp", 53, "TCP"),
    }
    assert service["metadata"]["labels"] == {
        "k8s-app": "kube-dns",
        "kubernetes.io/cluster-service": "true",
        "kubernetes.io/name": "KubeDNS",
        "addonmanager.kubernetes.io/mode": "Reconcile",
    }
    told, address = (tmp_path / "asked").read_text().splitlines(), (tmp_path / "web").read_text()
    assert "nameserver 10.0.0.10" in told
    assert told[-2:] == [address, address]
