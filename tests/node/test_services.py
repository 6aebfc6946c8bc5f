"""Services and policies on two nodes with containerd on our bridge network, one proxy in iptables, one in nftables mode.

Both nodes announce load-balancer addresses and enforce policies, too; in the end one of them is lost, with all that runs on it.
"""

from __future__ import annotations

import json

import pytest
from hyperkube_testing.lab import images
from hyperkube_testing.lab.node import CNI_CONFIG
from remote_runtime import needs_remote

from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.timeout(300)

FOLDER = "/etc/kubernetes"
NAMESPACE = "services"
PODS = "10.246.0.0/16"
RANGES = {"node-5": "10.246.5.0/24", "node-6": "10.246.6.0/24"}
MODES = {"node-5": "iptables", "node-6": "nftables"}
DNS = "10.96.0.10"
BALANCERS = ("192.168.77.240", "192.168.77.247")
EXTERNAL = "198.51.100.10"
MANY = 200
TIMES = 40
"""Connections until each of three pods has surely answered one."""
TOOLS = "tools:lab"
WEB = """
mkdir -p /var/www/cgi-bin; printf '#!/bin/sh\\necho; echo $(hostname) $REMOTE_ADDR\\n' > /var/www/cgi-bin/who
chmod +x /var/www/cgi-bin/who; hostname > /var/www/name; exec httpd -f -p 0.0.0.0:8080 -h /var/www
"""
UNPLUGGED = "add table netdev unplugged; add chain netdev unplugged eth0 {type filter hook ingress device eth0 priority 0; policy drop;}"
"""What ``nft`` does for a node that nothing reaches any more, ARP included; its addresses stay."""
TOLERATION = {"key": "test", "operator": "Exists"}
PLACES = {"echo-a": "node-5", "echo-b": "node-5", "echo-c": "node-6"}


def pod(name, node, **port):
    container = {
        "name": "c",
        "image": TOOLS,
        "command": ["sh", "-c", WEB],
        "ports": [{"containerPort": 8080, **port}],
        "readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 1},
    }
    spec = {"nodeName": node, "terminationGracePeriodSeconds": 1, "tolerations": [TOLERATION]}
    meta = {"name": name, "namespace": NAMESPACE, "labels": {"app": "echo", "is": name}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {**spec, "containers": [container]}}


def service(name, selector=("app", "echo"), node_port=None, **spec):
    port = {"port": 80, "targetPort": 8080, **({"nodePort": node_port} if node_port else {})}
    made = {"selector": dict([selector]), "ports": [port], **spec}
    meta = {"name": name, "namespace": NAMESPACE, "labels": {"app": name.partition("-")[0]}}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": made}


def only_from(source):
    """Return the policy that lets none but one pod come to the pods."""
    rule = {"from": [{"podSelector": {"matchLabels": {"is": source}}}]}
    meta = {"name": "only", "namespace": NAMESPACE}
    spec = {"podSelector": {"matchLabels": {"app": "echo"}}, "policyTypes": ["Ingress"], "ingress": [rule]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta, "spec": spec}


OBJECTS = (
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
    *(pod(name, node, **({"hostPort": 8085} if name == "echo-c" else {})) for name, node in PLACES.items()),
    service("echo", externalIPs=[EXTERNAL]),
    service("ports", type="NodePort", node_port=30080),
    service("local", ("is", "echo-c"), type="NodePort", externalTrafficPolicy="Local", node_port=30081),
    service("balanced", type="LoadBalancer"),
    service("near", ("is", "echo-c"), type="LoadBalancer", externalTrafficPolicy="Local"),
)


def start_node(cluster, node, proxy_mode):
    """Start kubelet, proxy and announcer; return what ends with the node."""
    node.path(CNI_CONFIG).unlink()
    cluster.credentials(node, "routes", "admin-token")
    kubelet = cluster.join(
        node,
        "--network-plugin=bridge",
        "--cni-bin-dir=/usr/lib/cni",
        f"--bridge-kubeconfig={FOLDER}/routes.kubeconfig",
        f"--cluster-dns={DNS}",
        "--cluster-domain=cluster.local",
        "--register-with-taints=test=services:NoSchedule",
        wait=False,
    )
    proxy = cluster.start_proxy(
        node, f"--proxy-mode={proxy_mode}", f"--cluster-cidr={PODS}", "--conntrack-max-per-core=0"
    )
    settings = f'node_name = "{node.name}"\n'
    both = f"[addon.load-balancer-announcer]\n{settings}lease_seconds = 3.0\n[addon.network-policy]\n{settings}"
    node.write(f"{FOLDER}/addons.toml", both)
    configs = [f"--kubeconfig={FOLDER}/routes.kubeconfig", f"--plugin-config={FOLDER}/addons.toml"]
    addons = cluster.hyperkube(node, "addons", "load-balancer-announcer", "network-policy", *configs)
    return [kubelet, proxy, addons]


@pytest.fixture(scope="module")
def nodes(bare_cluster):
    """The two nodes, and what runs on each."""
    needs_remote()
    cluster, lab = bare_cluster, bare_cluster.lab
    places = {name: lab.node(name, disk="400m") for name in RANGES}
    for place in places.values():
        place.load([images.debian_programs(TOOLS, ["curl"])])
    running = {name: start_node(cluster, place, MODES[name]) for name, place in places.items()}
    config = f"--kubeconfig={FOLDER}/admin.kubeconfig"
    master = [cluster.hyperkube(cluster.master, "addons", "dns", config)]
    cloud = ["--cloud-provider=local", f"--load-balancer-addresses={'-'.join(BALANCERS)}", "--leader-elect=false"]
    master.append(cluster.hyperkube(cluster.master, "cloud-controller-manager", config, "--secure-port=0", *cloud))
    for name, cidr in RANGES.items():
        eventually(lambda name=name: cluster.kubectl("get", "node", name, check=False).returncode == 0)
        cluster.kubectl("patch", "node", name, "-p", json.dumps({"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}}))
    names = [f"node/{name}" for name in RANGES]
    try:
        cluster.kubectl("wait", "--for=condition=Ready", *names, "--timeout=60s")
        cluster.apply(*OBJECTS)
        ready = [f"pod/{name}" for name in PLACES]
        kubectl(cluster, "wait", "--for=condition=Ready", *ready, "--timeout=80s")
        yield places, running
    finally:
        for program in [*(one for each in running.values() for one in each), *master]:
            lines = [line for line in program.output().splitlines() if "FLAG:" not in line]
            print(*lines[-30:], sep="\n")
            program.stop()
        kubectl(cluster, "delete", "pod", "--all", "--wait=false", "--grace-period=0", "--force", check=False)
        cluster.kubectl("delete", f"namespace/{NAMESPACE}", *names, "--wait=false", check=False)


@pytest.fixture(scope="module")
def pods(bare_cluster, nodes):
    """Name of a pod → its address."""
    return {name: bare_cluster.get("pod", name, "-n", NAMESPACE)["status"]["podIP"] for name in PLACES}


def kubectl(cluster, *words, **options):
    return cluster.kubectl("-n", NAMESPACE, *words, **options)


def asking(host, port, times=1):
    """Return the command line that asks a number of times, connection after connection, until one fails."""
    return ["curl", "-sf", "--fail-early", "--max-time", "3", *[f"http://{host}:{port}/cgi-bin/who"] * times]


def from_pod(cluster, name, host, port=80, *, check=True):
    """Ask a pod, a Service or an address from within a pod; return who answered, and which address it saw."""
    return tuple(kubectl(cluster, "exec", name, "--", *asking(host, port), check=check).stdout.split())


def from_place(place, host, port=80, *, check=True):
    """Ask from a node or a machine that is none; see `from_pod`."""
    return tuple(place.run(*asking(host, port), check=check).stdout.split())


def rows(done, times=TIMES):
    """Return who answered and which address it saw, of each connection; all must have been answered."""
    found = [tuple(line.split()) for line in done.stdout.splitlines()]
    assert len(found) == times, done
    return found


def answering(place, host, port=80):
    """Return who answers, of many connections."""
    return {who for who, _ in rows(place.run(*asking(host, port, TIMES)))}


def cluster_ip(cluster, name):
    return cluster.get("service", name, "-n", NAMESPACE)["spec"]["clusterIP"]


def balancer_address(cluster, name):
    """Return the address that the cloud gave a Service."""
    status = eventually(lambda: cluster.get("service", name, "-n", NAMESPACE)["status"]["loadBalancer"].get("ingress"))
    return status[0]["ip"]


@pytest.mark.parametrize("target", ["echo-b", "echo-c"], ids=["within a node", "across nodes"])
def test_a_pod_reaches_another_with_its_own_address(bare_cluster, pods, target):
    assert from_pod(bare_cluster, "echo-a", pods[target], 8080) == (target, pods["echo-a"])


@pytest.mark.parametrize("source", ["echo-a", "echo-c"])
def test_a_cluster_ip_leads_to_all_pods_which_see_the_clients_address(bare_cluster, pods, source):
    address = cluster_ip(bare_cluster, "echo")
    eventually(lambda: from_pod(bare_cluster, source, address, check=False))

    found = rows(kubectl(bare_cluster, "exec", source, "--", *asking(address, 80, TIMES)))

    assert {name for name, _ in found} == set(PLACES)
    assert {seen for name, seen in found if name != source} == {pods[source]}


@pytest.mark.parametrize("name", list(RANGES))
def test_a_node_reaches_a_service(bare_cluster, nodes, pods, name):
    place, address = nodes[0][name], cluster_ip(bare_cluster, "echo")

    assert answering(place, address) == set(pods)


@pytest.mark.parametrize("name", list(RANGES))
def test_a_node_port_answers_at_every_node(bare_cluster, nodes, name):
    outside, node = bare_cluster.lab.outside, nodes[0][name]

    found = rows(outside.run(*asking(node.ip, 30080, TIMES)))

    assert {who for who, _ in found} == set(PLACES)
    assert bare_cluster.lab.outside.ip not in {seen for _, seen in found}


def test_a_local_node_port_keeps_the_source_and_answers_where_a_pod_is(bare_cluster, nodes):
    outside = bare_cluster.lab.outside

    assert from_place(outside, nodes[0]["node-6"].ip, 30081) == ("echo-c", outside.ip)
    assert from_place(outside, nodes[0]["node-5"].ip, 30081, check=False) == ()


def test_a_host_port_keeps_the_source(bare_cluster, nodes, pods):
    outside = bare_cluster.lab.outside

    assert from_place(outside, nodes[0]["node-6"].ip, 8085) == ("echo-c", outside.ip)


@pytest.mark.parametrize("source", ["echo-a", "echo-c"])
@pytest.mark.parametrize("name", ["echo", f"echo.{NAMESPACE}.svc.cluster.local"])
def test_pods_find_services_by_name(bare_cluster, nodes, source, name):
    assert eventually(lambda: from_pod(bare_cluster, source, name, check=False))[0] in PLACES


@pytest.mark.parametrize("name", list(RANGES))
def test_an_external_ip_answers_at_the_node_it_is_routed_to(bare_cluster, nodes, name):
    master = bare_cluster.master
    master.run("ip", "route", "replace", EXTERNAL, "via", nodes[0][name].ip)

    assert answering(master, EXTERNAL) == set(PLACES)


def test_a_balancers_address_answers_outside_the_link(bare_cluster, nodes):
    outside, address = bare_cluster.lab.outside, balancer_address(bare_cluster, "balanced")
    eventually(lambda: from_place(outside, address, check=False))

    assert answering(outside, address) == set(PLACES)


def test_a_local_balancer_is_announced_where_its_pod_is_and_keeps_the_source(bare_cluster, nodes):
    outside, address = bare_cluster.lab.outside, balancer_address(bare_cluster, "near")

    assert eventually(lambda: from_place(outside, address, check=False)) == ("echo-c", outside.ip)


def test_a_policy_holds_within_and_across_nodes_and_behind_services(bare_cluster, nodes, pods):
    echo = cluster_ip(bare_cluster, "echo")

    def heard(source, *targets):
        """Return which of the targets answer a pod; ``curl`` asks all of them at once."""
        urls = [f"http://{target}/cgi-bin/who" for target in targets]
        line = ["curl", "-sfZ", "--max-time", "2", *urls]
        done = kubectl(bare_cluster, "exec", source, "--", *line, check=False)
        return {row.split()[0] for row in done.stdout.splitlines()}

    every = [f"{address}:8080" for address in pods.values()]
    assert heard("echo-b", *every) == heard("echo-c", *every) == set(PLACES)
    bare_cluster.apply(only_from("echo-a"))

    eventually(lambda: heard("echo-b", *every) == {"echo-b"}, why="others are refused within a node and across nodes")
    eventually(lambda: heard("echo-c", *every) == {"echo-c"}, why="and at the other node")
    assert heard("echo-a", *every) == set(PLACES)
    assert heard("echo-a", *[echo] * 12) == set(PLACES)
    assert heard("echo-b", *[echo] * 12) <= {"echo-b"}
    assert from_place(nodes[0]["node-6"], pods["echo-c"], 8080)[0] == "echo-c"  # a node reaches its pods, for probes
    kubectl(bare_cluster, "delete", "networkpolicy", "only")
    eventually(lambda: heard("echo-b", *every) == heard("echo-c", *every) == set(PLACES))


def test_the_api_server_proxies_over_the_pod_network(bare_cluster, nodes):
    for name, cidr in RANGES.items():
        bare_cluster.master.run("ip", "route", "replace", cidr, "via", nodes[0][name].ip)

    def raw(path):
        return bare_cluster.kubectl("get", "--raw", f"/api/v1/{path}").stdout.strip()

    for name in PLACES:
        assert raw(f"namespaces/{NAMESPACE}/pods/{name}:8080/proxy/name") == name
    assert raw(f"namespaces/{NAMESPACE}/services/echo:80/proxy/name") in PLACES
    assert {raw(f"nodes/{name}/proxy/healthz") for name in RANGES} == {"ok"}


def test_two_hundred_services_answer_and_go(bare_cluster, nodes):
    bare_cluster.apply(*(service(f"many-{number}") for number in range(MANY)))
    rows = bare_cluster.get("services", "-n", NAMESPACE, "-l", "app=many")
    addresses = [row["spec"]["clusterIP"] for row in rows]
    ask_all = ["curl", "-sfZ", "--parallel-max", "8", "--max-time", "20", f"http://{{{','.join(addresses)}}}/name"]

    def answers(source):
        return len(kubectl(bare_cluster, "exec", source, "--", *ask_all, check=False).stdout.splitlines())

    for source in ("echo-a", "echo-c"):
        eventually(lambda source=source: answers(source) == MANY, 60, why="all services answer")
    kubectl(bare_cluster, "delete", "service", "-l", "app=many", "--wait=false")

    for place in nodes[0].values():
        eventually(lambda place=place: from_place(place, addresses[-1], check=False) == ())
    assert len(addresses) == MANY


def test_a_lost_nodes_balancer_address_and_endpoints_go_to_the_other(bare_cluster, nodes, request):
    places, running = nodes
    address, master = balancer_address(bare_cluster, "balanced"), bare_cluster.master
    macs = {name: place.run("cat", "/sys/class/net/eth0/address").stdout.strip() for name, place in places.items()}
    eventually(lambda: from_place(master, address, check=False))
    known = master.run("ip", "neigh", "show", address).stdout
    owner = next(name for name, mac in macs.items() if mac in known)
    (other,) = set(RANGES) - {owner}

    for program in (*running[owner], places[owner].containerd):
        program.kill()
    places[owner].run("nft", UNPLUGGED)
    request.addfinalizer(lambda: places[owner].run("nft", "delete table netdev unplugged"))

    eventually(lambda: macs[other] in master.run("ip", "neigh", "show", address).stdout, 30)
    eventually(lambda: from_place(master, address, check=False), 30)
    left = {name for name, node in PLACES.items() if node == other}

    def answers():
        done = master.run(*asking(address, 80, TIMES), check=False)
        return [line.split()[0] for line in done.stdout.splitlines()]

    eventually(lambda: len(who := answers()) == TIMES and set(who) == left, 120, why="its pods are endpoints no more")
