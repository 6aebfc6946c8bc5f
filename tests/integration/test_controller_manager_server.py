"""The controller manager's HTTPS port, as kube-controller-manager has it, and what is counted in the meantime."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from secure_servers import Component, asked_server
from server_processes import eventually, running

pytestmark = pytest.mark.slow

CONTROLLERS = "--controllers=deployment,replicaset,serviceaccount,podgc"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with asked_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def manager(server, tmp_path_factory):
    name = "kube-controller-manager"
    flags = (CONTROLLERS, "--use-service-account-credentials")
    with running(Component(tmp_path_factory.mktemp("manager"), name, server, *flags)) as (process,):
        eventually(lambda: "deployment-controller" in process.get("/healthz?verbose")[1], 60)
        yield process


def test_health_names_each_controller_to_everybody(manager):
    assert [manager.get(path) for path in ("/healthz", "/livez", "/readyz")] == [(200, "ok")] * 3
    assert manager.get("/healthz?verbose")[1].splitlines() == [
        "[+]ping ok",
        "[+]leaderElection ok",
        "[+]deployment-controller ok",
        "[+]pod-garbage-collector-controller ok",
        "[+]replicaset-controller ok",
        "[+]serviceaccount-controller ok",
        "healthz check passed",
    ]


def test_the_rest_is_for_whom_the_api_server_lets(server, manager):
    assert manager.get("/metrics")[0] == 403
    assert manager.get("/metrics", "nobody's")[0] == 401
    assert manager.get("/metrics", "scrape-token")[0] == 200
    assert manager.get("/configz", "scrape-token")[0] == 403
    assert manager.get("/configz", certificate=server.administrator)[0] == 200


def test_queues_controllers_and_requests_are_counted(server, manager):
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
    deployments = "/apis/apps/v1/namespaces/default/deployments"
    assert server.post(deployments, {"metadata": {"name": "web"}, "spec": spec})[0] == 201
    host = f"127.0.0.1:{server.secure_port}"

    def told(line):
        values = [float(row[len(line) :]) for row in text().splitlines() if row.startswith(line + " ")]
        return values[0] if values else 0.0

    def text():
        return manager.get("/metrics", "scrape-token")[1]

    eventually(lambda: told('workqueue_work_duration_seconds_count{name="replicaset"}') > 0, 60)
    assert told('workqueue_adds_total{name="deployment"}') > 0
    assert told('workqueue_queue_duration_seconds_bucket{le="+Inf",name="deployment"}') > 0
    assert told('running_managed_controllers{manager="kube-controller-manager",name="deployment-controller"}') == 1
    assert told('leader_election_master_status{name="kube-controller-manager"}') == 1
    assert told(f'rest_client_requests_total{{code="201",host="{host}",method="POST"}}') > 0
    assert told("process_resident_memory_bytes") > 0
    assert 'workqueue_depth{name="podgc"}' in text()


def test_an_administrator_reads_configuration_flags_and_state(manager):
    configuration = json.loads(manager.get("/configz", "admin-token")[1])["kubecontrollermanager.config.k8s.io"]
    flags = manager.get("/flagz", "admin-token")[1].splitlines()
    manager.get("/healthz")

    assert configuration["controllers"] == ["deployment", "podgc", "replicaset", "serviceaccount"]
    assert configuration["options"]["secure-port"] == manager.port
    assert f"secure-port={manager.port}" in flags
    assert "kube-controller-manager statusz" in manager.get("/statusz", "admin-token")[1]
    indicators = manager.get("/metrics/slis", "admin-token")[1]
    assert 'kubernetes_healthcheck{name="replicaset-controller",type="healthz"} 1' in indicators


def test_its_log_begins_with_the_version_and_all_flags(manager):
    first, *others = [line.partition("] ")[2] for line in manager.log.read_text().splitlines()]

    flags = [line for line in others if line.startswith("FLAG: ")]
    assert first.startswith("Version: v1.36")
    assert others[: len(flags)] == flags
    assert {'FLAG: --leader-elect="true"', f'FLAG: --secure-port="{manager.port}"'} <= {*flags}


def test_a_controller_that_there_is_not_is_one_line(server, tmp_path):
    command = Component(tmp_path, "kube-controller-manager", server, "--controllers=nosuch").command()

    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    assert ended.returncode == 1
    last = ended.stderr.splitlines()[-1]
    assert last.startswith("error: ")
    assert "nosuch" in last


def test_who_loses_the_lease_ends(server, tmp_path):
    soon = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=200ms")
    other = "--leader-elect-resource-name=contended"
    path = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/contended"
    process = Component(tmp_path, "kube-controller-manager", server, "--controllers=podgc", other, *soon)
    with running(process):
        eventually(lambda: server.get(path).get("spec", {}).get("holderIdentity"), 60)
        stolen = {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": "2100-01-01T00:00:00.000000Z"}

        def steal():
            lease = server.get(path)  # its holder writes it, too: a conflict is tried again
            return server.put(path, {**lease, "spec": lease.get("spec", {}) | stolen})[0] == 200

        eventually(steal, 60)

        assert process.process.wait(60) == 1
    assert process.tail().splitlines()[-1] == "error: leaderelection lost"
