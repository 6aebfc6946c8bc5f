"""Pod networks of ours: process pods in namespaces on three nodes, one of which is behind a router."""

from __future__ import annotations

import json

import pytest

from hyperkube.testing.waiting import eventually

FOLDER = "/etc/kubernetes"
RANGES = {"node-7": "10.246.7.0/24", "node-8": "10.246.8.0/24", "node-9": "10.246.9.0/24"}
WEB = "mkdir -p w; echo $(hostname) > w/index.html; exec busybox httpd -f -p 80 -h w"


def pod(name, node, **port):
    container = {"name": "c", "image": "host", "command": ["sh", "-c", WEB], "ports": [{"containerPort": 80, **port}]}
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


@pytest.fixture(scope="module")
def places(bare_cluster):
    """Three nodes with process pods on our bridge network; tainted, so that nothing else comes to them."""
    lab = bare_cluster.lab
    found = {"node-7": lab.place("node-7"), "node-8": lab.place("node-8"), "node-9": lab.outside}
    kubelets = []
    for name, place in found.items():
        bare_cluster.credentials(place, "kubelet", f"{name}-token")
        bare_cluster.credentials(place, "routes", "admin-token")
        kubelets.append(
            bare_cluster.hyperkube(
                place,
                "kubelet",
                f"--kubeconfig={FOLDER}/kubelet.kubeconfig",
                f"--hostname-override={name}",
                f"--node-ip={place.ip}",
                "--container-runtime=process",
                "--network-plugin=bridge",
                "--cni-bin-dir=/usr/lib/cni",
                f"--bridge-kubeconfig={FOLDER}/routes.kubeconfig",
                "--register-with-taints=test=pod-networks:NoSchedule",
                "--fail-swap-on=false",
                "--v=2",
            )
        )
    for name, cidr in RANGES.items():
        eventually(lambda name=name: bare_cluster.kubectl("get", "node", name, check=False).returncode == 0)
        bare_cluster.kubectl("patch", "node", name, "-p", json.dumps({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}))
    names = [f"node/{name}" for name in RANGES]
    try:
        bare_cluster.kubectl("wait", "--for=condition=Ready", *names, "--timeout=60s")
        bare_cluster.apply(
            pod("first", "node-7", hostPort=8085), pod("second", "node-7"), pod("near", "node-8"), pod("far", "node-9")
        )
        bare_cluster.kubectl(
            "wait", "--for=condition=Ready", "pod/first", "pod/second", "pod/near", "pod/far", "--timeout=60s"
        )
        yield found
    finally:
        for kubelet in kubelets:
            print(*[line for line in kubelet.output().splitlines() if "FLAG:" not in line][-40:], sep="\n")
        bare_cluster.kubectl("delete", "pod", "first", "second", "near", "far", "--ignore-not-found", check=False)
        for kubelet in kubelets:
            kubelet.stop()
        bare_cluster.kubectl("delete", *names, check=False)


@pytest.fixture(scope="module")
def addresses(bare_cluster, places):
    return {item: bare_cluster.get("pod", item)["status"]["podIP"] for item in ("first", "second", "near", "far")}


@pytest.mark.parametrize("target", ["second", "near", "far"])
def test_a_pod_reaches_the_others(bare_cluster, addresses, target):
    url = f"http://{addresses[target]}/"

    assert bare_cluster.kubectl("exec", "first", "--", "curl", "-sf", "--max-time", "20", url).stdout == f"{target}\n"


def test_pods_of_other_nodes_reach_it(bare_cluster, addresses):
    for source in ("near", "far"):
        url = f"http://{addresses['first']}/"
        found = bare_cluster.kubectl("exec", source, "--", "curl", "-sf", "--max-time", "20", url).stdout
        assert found == "first\n"


def test_addresses_are_those_of_the_nodes_ranges(addresses):
    assert {name: ip.rpartition(".")[0] for name, ip in addresses.items()} == {
        "first": "10.246.7", "second": "10.246.7", "near": "10.246.8", "far": "10.246.9",
    }  # fmt: skip


def test_on_one_link_routes_are_direct_and_behind_a_router_tunnelled(places):
    routes = places["node-7"].run("ip", "route", "show", "proto", "114").stdout

    assert f"10.246.8.0/24 via {places['node-8'].ip} dev eth0" in routes
    assert "10.246.9.0/24 via 10.246.9.0 dev hyperkube.vxlan onlink" in routes


def test_a_port_of_the_node_leads_to_the_pod(bare_cluster, places):
    url = f"http://{places['node-7'].ip}:8085/"

    assert bare_cluster.master.run("curl", "-sf", "--max-time", "20", url).stdout == "first\n"


def test_a_pod_sees_its_own_processes_and_interfaces(bare_cluster, places):
    script = "cat /proc/1/comm; ls /proc | grep -c '^[0-9]'; tail -n +3 /proc/net/dev | wc -l"
    comm, processes, interfaces = bare_cluster.kubectl("exec", "second", "--", "sh", "-c", script).stdout.split()

    assert comm == "busybox"
    assert int(processes) < 10
    assert interfaces == "2"


def test_a_deleted_pod_leaves_nothing(bare_cluster, places):
    bare_cluster.kubectl("delete", "pod", "first", "--wait")

    place = places["node-7"]
    eventually(lambda: "8085" not in place.run("iptables-save", "-t", "nat").stdout)
    cached = place.path("/var/lib/cni/cache/results")
    eventually(lambda: len([path for path in cached.iterdir() if "eth0" in path.name]) == 1)
    eventually(lambda: len(list(place.path("/var/lib/cni/networks/hyperkube").glob("10.*"))) == 1)
