"""Every command of kubectl 1.32 sends the requests that were recorded of it, and likes the answers."""

from __future__ import annotations

import ast
import base64
import re
import stat
import time
from pathlib import Path

import pytest
import yaml
from hyperkube_testing.peers.peer import Peer
from kubectl_rows import MORE, ROWS, config_map
from local_cluster import curl, pod, reading, run

SENT = re.compile(r"round_trippers.go:\d+\] (\w+) https://[^/]+(\S*) (\d*)")
METRICS = "metrics.k8s.io/v1beta1"
RECORDED = Path(__file__).parents[3] / "shared" / "reference" / "api-surface.md"
TIMEOUT = re.compile(r"([?&])timeout=\d+s&?")


@pytest.fixture(scope="module")
def metrics(up, tmp_path_factory):
    """What the aggregated API of a metrics server answers; its port is that of `Peer`."""
    node = up.get("nodes")[0]["metadata"]["name"]
    when = {"timestamp": "2026-01-02T03:04:05Z", "window": "10s"}
    usage = {"cpu": "250m", "memory": "64Mi"}

    def listed(kind, *items):
        answer = {"kind": f"{kind}List", "apiVersion": METRICS, "metadata": {}, "items": list(items)}
        return lambda _: answer

    resources = [
        {"name": name, "singularName": "", "kind": kind, "namespaced": kind == "PodMetrics", "verbs": ["get", "list"]}
        for name, kind in (("nodes", "NodeMetrics"), ("pods", "PodMetrics"))
    ]
    discovered = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": METRICS, "resources": resources}
    with Peer(tmp_path_factory.mktemp("metrics")) as peer:
        peer.answers[f"/apis/{METRICS}"] = lambda _: discovered
        peer.answers[f"/apis/{METRICS}/nodes"] = listed(
            "NodeMetrics", {"metadata": {"name": node}, **when, "usage": usage}
        )
        solo = {"metadata": {"name": "solo"}, **when, "containers": [{"name": "solo", "usage": usage}]}
        pods = listed("PodMetrics", solo)
        yield peer, pods


def _metrics_service(namespace, port):
    """Return the manifest that hands the metrics API to a service."""
    service = {"name": "metrics", "namespace": namespace, "port": port}
    group, version = METRICS.split("/")
    spec = {"group": group, "version": version, "service": service, "insecureSkipTLSVerify": True,
            "groupPriorityMinimum": 100, "versionPriority": 100}  # fmt: skip
    kind = {"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService"}
    return {**kind, "metadata": {"name": f"{version}.{group}"}, "spec": spec}


@pytest.fixture(scope="module")
def matrix(up, tmp_path_factory, metrics):
    """A namespace with what the rows are about, and a function that runs one command line in it."""
    name, folder = f"matrix-{time.monotonic_ns() % 10**8}", tmp_path_factory.mktemp("matrix")
    node, port = up.get("nodes")[0]["metadata"]["name"], metrics[0].url.rpartition(":")[2]
    metrics[0].answers[f"/apis/{METRICS}/namespaces/{name}/pods"] = metrics[1]
    up.kubectl("create", "namespace", name)
    environment = {"KUBE_EDITOR": str(_editor(folder / "editor"))}

    def filled(text):
        return text.replace("NODE", node).replace("ROOM", name).replace("FOLDER", str(folder))

    def call(words, given=None):
        parts = [word.replace("\t", " ") for word in words.split(" ")]
        at = parts.index("--") if "--" in parts else len(parts)
        line = [*parts[:at], "-v=6", *parts[at:]]
        return up.kubectl(*map(filled, line), namespace=name, env_more=environment, check=False, input=given)

    def must(*words, **more):
        up.kubectl(*words, namespace=name, **more)

    solo = pod("solo", "echo ready; exec sleep 1000", labels={"run": "solo"})
    solo["spec"]["containers"][0]["name"] = "solo"
    idle = yaml.safe_dump_all([solo, pod("drained", "exec sleep 1000", labels={"run": "drained"})])
    must(
        "apply", "-f", "-", input=idle + "\n---\n" + "\n---\n".join(map(config_map, ("settings", "doomed", "labelled")))
    )
    must("label", "configmap", "labelled", "goes=yes")
    must("create", "deployment", "web", "--image=host", "--", "sh", "-c", "exec sleep 1000")
    must("create", "deployment", "idle", "--image=host", "--replicas=0", "--", "sleep", "1")
    must("create", "service", "clusterip", "web", "--tcp=80")
    must("create", "serviceaccount", "robot")
    must("create", "rolebinding", "views", "--clusterrole=view", "--user=nobody")
    must("create", "quota", "most", "--hard=pods=50")
    must("create", "service", "externalname", "metrics", "--external-name=localhost", f"--tcp={port}")
    # What the cluster's own metrics server says changes from one second to the next.
    must("wait", "--for=create", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    must("delete", "apiservice", "v1beta1.metrics.k8s.io")
    must("apply", "-f", "-", input=yaml.safe_dump(_metrics_service(name, int(port))))
    for verdict in ("yes", "no"):
        must("create", "-f", "-", input=_signing_request(f"{name}-{verdict}", folder))
    must("wait", "--for=condition=Ready", "pod/solo", "pod/drained", "--timeout=30s")
    must("wait", "--for=condition=Available", "apiservice/v1beta1.metrics.k8s.io", "--timeout=30s")
    must("wait", "--for=condition=Available", "deployment/web", "--timeout=30s")
    yield call, filled
    up.kubectl("delete", "apiservice", "v1beta1.metrics.k8s.io")
    up.kubectl("delete", "namespace", name, "--wait=false")
    up.kubectl("delete", "csr", f"{name}-yes", f"{name}-no")


def _editor(path):
    path.write_text('#!/bin/sh\nsed -i \'s/a: "1"/a: edited/\' "$1"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def _signing_request(name, folder):
    """Return the manifest of a request for a client certificate."""
    request = folder / f"{name}.csr"
    run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
         folder / f"{name}.key", "-subj", "/CN=somebody", "-out", request])  # fmt: skip
    spec = {
        "request": base64.b64encode(request.read_bytes()).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
    }
    kind = {"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest"}
    return yaml.safe_dump({**kind, "metadata": {"name": name}, "spec": spec})


def _requests(text):
    """Return the requests that kubectl tells of in its log, as "METHOD path?query status"."""
    found = []
    for method, path, status in SENT.findall(text):
        bare = TIMEOUT.sub(r"\1", path).rstrip("?&")
        found.append(f"{method} {bare} {status}".rstrip())
    return found


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_the_matrix(matrix, row):
    call, filled = matrix
    for step in ROWS[row]:
        answer = call(step.words, step.given or None)

        sent, said = _requests(answer.err), answer.out + answer.err
        assert answer.code == step.code, f"{step.words}: exit {answer.code}\n{said}"
        assert re.search(filled(step.shows), said) or filled(step.shows) in said, f"{step.words}:\n{said}"
        for wanted in map(filled, step.sends):
            pattern = wanted.replace("$", r"( \d+)?$")
            assert any(re.search(pattern, one) for one in sent), f"{step.words}: {wanted} is not in {sent}"
        if not step.code:
            assert not [one for one in sent if re.search(r" (400|406|415|422|5\d\d)$", one)], f"{step.words}: {sent}"


def test_proxy_passes_requests_on(up):
    with reading(up.open("proxy", "--port=0")) as output:
        address = output.has("Starting to serve on").split()[-1]

        answer = curl(f"http://{address}/api/v1/namespaces/default").out

        assert '"name": "default"' in answer


def test_every_recorded_row_is_here():
    if not RECORDED.exists():
        pytest.skip(f"the recorded matrix is not there: {RECORDED}")
    part = RECORDED.read_text().partition("## 1.")[2].partition("## 2.")[0]
    recorded = [
        line.split("|")[1].strip() for line in part.splitlines() if line.startswith("| ") and "requests" not in line
    ]

    named = {row.replace("get", "get X") if row == "get" else row for row in ROWS}

    assert named == set(recorded) - {"command"}


def test_what_else_is_shown_of_a_row_is_a_test():
    assert set(MORE) <= set(ROWS)
    for module, function in (name.split(".") for names in MORE.values() for name in names):
        tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text())
        assert function in {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}, (module, function)
