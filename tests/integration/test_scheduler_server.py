"""The scheduler's HTTPS port, as kube-scheduler has it: health for all, the rest for whom the API server lets."""

import http.client
import json
import ssl
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from server_processes import BIN, ApiServer, Process, eventually, running

from hyperkube.serving.certificates import issue, make_ca
from hyperkube.testing.ports import free_port

pytestmark = pytest.mark.slow

TOKENS = "admin-token,admin,1,system:masters\nsched-token,system:kube-scheduler,2\nscrape-token,scraper,3\n"
READER = {
    "role": ("clusterroles", {"rules": [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]}),
    "binding": (
        "clusterrolebindings",
        {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "scrape"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "scraper"}],
        },
    ),
}


class Scheduler(Process):
    """A scheduler with an HTTPS port."""

    def __init__(self, folder, kubeconfig):
        super().__init__(folder, "scheduler")
        self.kubeconfig, self.port = kubeconfig, free_port()

    def command(self):
        delegated = [f"--{word}-kubeconfig={self.kubeconfig}" for word in ("authentication", "authorization")]
        return [
            str(BIN / "kube-scheduler"), f"--kubeconfig={self.kubeconfig}", "--v=2", "--leader-elect=true",
            f"--secure-port={self.port}", "--bind-address=127.0.0.1", *delegated,
        ]  # fmt: skip

    def answers(self):
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            return False

    def get(self, path, token="", certificate=None):
        """Return status and text of an answer."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if certificate is not None:
            context.load_cert_chain(*certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=10, context=context)
        try:
            connection.request("GET", path, headers={"Authorization": f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    (folder / "tokens.csv").write_text(TOKENS)
    authority = make_ca("clients")
    authority.write(folder / "ca.crt", folder / "ca.key")
    issue(authority, "admin", organizations=["system:masters"]).write(folder / "admin.crt", folder / "admin.key")
    server = ApiServer(
        folder, "--storage-backend=memory", "--authorization-mode=RBAC", f"--token-auth-file={folder / 'tokens.csv'}",
        f"--client-ca-file={folder / 'ca.crt'}", secure=True,
    )  # fmt: skip
    server.administrator = (folder / "admin.crt", folder / "admin.key")
    with running(server):
        for resource, body in READER.values():
            path = f"/apis/rbac.authorization.k8s.io/v1/{resource}"
            assert server.post(path, {"metadata": {"name": "scrape"}, **body})[0] == 201
        yield server


@pytest.fixture(scope="module")
def scheduler(server, tmp_path_factory):
    folder = tmp_path_factory.mktemp("scheduler")
    cluster = {"server": f"https://127.0.0.1:{server.secure_port}", "insecure-skip-tls-verify": True}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "sched-token"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    (folder / "kubeconfig").write_text(json.dumps(document))
    with running(Scheduler(folder, folder / "kubeconfig")) as (process,):
        yield process


def test_health_is_told_to_everybody(scheduler):
    assert [scheduler.get(path) for path in ("/healthz", "/livez", "/readyz")] == [(200, "ok")] * 3


def test_the_checks_have_kubernetes_names(scheduler):
    _, ready = scheduler.get("/readyz?verbose")
    _, alive = scheduler.get("/livez?verbose")

    assert ready.splitlines() == [
        "[+]ping ok",
        "[+]leaderElection ok",
        "[+]shutdown ok",
        "[+]sched-handler-sync ok",
        "readyz check passed",
    ]
    assert alive.splitlines() == ["[+]ping ok", "livez check passed"]


def test_metrics_are_for_whom_the_api_server_lets(scheduler):
    assert scheduler.get("/metrics")[0] == 403
    assert scheduler.get("/metrics", "nobody's")[0] == 401
    status, text = scheduler.get("/metrics", "scrape-token")

    assert status == 200
    assert 'scheduler_pending_pods{queue="active"} 0.0' in text
    assert scheduler.get("/configz", "scrape-token")[0] == 403


def test_a_certificate_that_the_api_server_believes_is_believed_here(server, scheduler):
    assert scheduler.get("/configz", certificate=server.administrator)[0] == 200


def test_an_administrator_reads_configuration_flags_and_state(scheduler):
    configuration = json.loads(scheduler.get("/configz", "admin-token")[1])["componentconfig"]
    flags = scheduler.get("/flagz", "admin-token")[1].splitlines()
    status = scheduler.get("/statusz", "admin-token")[1]

    scheduler.get("/livez")
    indicators = scheduler.get("/metrics/slis", "admin-token")[1]

    assert 'kubernetes_healthcheck{name="ping",type="livez"} 1' in indicators
    assert configuration["kind"] == "KubeSchedulerConfiguration"
    assert f"secure-port={scheduler.port}" in flags
    assert "kube-scheduler statusz" in status


def test_pods_that_are_tried_are_counted(server, scheduler):
    pod = {"metadata": {"name": "one"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    account = {"metadata": {"name": "default"}}
    server.post("/api/v1/namespaces/default/serviceaccounts", account)
    assert server.post("/api/v1/namespaces/default/pods", pod)[0] == 201

    line = 'scheduler_schedule_attempts_total{profile="default-scheduler",result="unschedulable"} 1.0'
    eventually(lambda: line in scheduler.get("/metrics", "scrape-token")[1], 60)
    text = scheduler.get("/metrics", "scrape-token")[1]

    resources = scheduler.get("/metrics/resources", "admin-token")

    assert 'scheduler_pending_pods{queue="unschedulable"} 1.0' in text
    assert resources[0] == 200
    assert "# TYPE kube_pod_resource_request gauge" in resources[1]
