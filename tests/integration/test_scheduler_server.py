"""The scheduler's HTTPS port, as kube-scheduler has it: health for all, the rest for whom the API server lets."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
sys.path.insert(0, str(Path(__file__).parent))

from secure_servers import Component, asked_server
from server_processes import eventually, running

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with asked_server(tmp_path_factory.mktemp("server")) as server:
        yield server


@pytest.fixture(scope="module")
def scheduler(server, tmp_path_factory):
    with running(Component(tmp_path_factory.mktemp("scheduler"), "kube-scheduler", server)) as (process,):
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


def test_requests_and_leadership_are_counted(server, scheduler):
    text = scheduler.get("/metrics", "scrape-token")[1]

    assert 'leader_election_master_status{name="kube-scheduler"} 1.0' in text
    assert f'rest_client_requests_total{{code="200",host="127.0.0.1:{server.secure_port}",method="GET"}}' in text
