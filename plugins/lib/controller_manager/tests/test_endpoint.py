"""What the manager tells of its controllers over HTTP."""

import importlib.util
import json
from pathlib import Path

import pytest
from hyperkube_lib.controller_manager import manager as module
from hyperkube_lib.controller_manager.endpoint import manager_endpoints, measured
from hyperkube_lib.controller_manager.manager import ControllerManager
from hyperkube_lib.controller_manager.options import ManagerOptions
from hyperkube_lib.serving.component import ComponentHandler
from hyperkube_lib.serving.exchange import HttpRequest
from prometheus_client.metrics_core import CounterMetricFamily
from prometheus_client.parser import text_string_to_metric_families

from hyperkube.client.fake import FakeClient
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.kinds.resources import PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.plugin import Plugin, PluginHost
from hyperkube.testing.waiting import eventually

_spec = importlib.util.spec_from_file_location("managers", Path(__file__).with_name("managers.py"))
managers = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(managers)
MANAGER = managers.MANAGER


class Looking(Plugin):
    """Looks at each pod; the one that is called `broken` falls over at once."""

    @hookimpl
    def controller_build(self):
        loop = ReconcileLoop(self.context.name, lambda _key: None, clock=self.context.clock)
        loop.watch(self.informers.informer(PODS))
        if self.context.name == "broken":
            loop.begin = lambda: 1 / 0
        return loop


DATA = {
    "podgc": '[podgc]\nname = "pod-garbage-collector-controller"\n',
    "pv-protection": '[pv-protection]\nqueue = "pvprotection"\n',
}
"""What stands beside some controllers."""


@pytest.fixture
def manage(monkeypatch, entries):
    """Start a manager of the named controllers; return it with a function that asks its handler."""

    def load(family, names, specs, context):
        return PluginHost(family, specs, [(name, Looking(context(name))) for name in names])

    monkeypatch.setattr(module, "load", load)
    started = []

    def begin(*names, **options):
        chosen = {name: DATA[name] for name in names if name in DATA}
        monkeypatch.setattr(
            module, "installed", lambda _family: entries(*(name for name in names if name not in DATA), **chosen)
        )
        client = FakeClient(SystemClock())
        manager = ControllerManager(
            client_for=lambda _user: client, options=ManagerOptions.in_process(MANAGER, options)
        )
        manager.start()
        started.append(manager)
        handler = ComponentHandler(manager_endpoints(manager, ManagerOptions.in_process(MANAGER, options)))

        def ask(path, query=""):
            answer = handler.handle(HttpRequest(method="GET", path=path, query_string=query))
            return answer.status, answer.body.decode()

        return client, ask

    yield begin
    for manager in started:
        manager.close()


def told(ask, sample_name, /, **labels):
    for family in text_string_to_metric_families(ask("/metrics")[1]):
        for sample in family.samples:
            if sample.name == sample_name and sample.labels == labels:
                return sample.value
    return None


def test_each_controller_has_a_check_under_its_canonical_name(manage):
    _, ask = manage("podgc", "job")

    assert ask("/healthz", "verbose")[1].splitlines() == [
        "[+]ping ok",
        "[+]job-controller ok",
        "[+]pod-garbage-collector-controller ok",
        "healthz check passed",
    ]
    assert ask("/healthz/job-controller") == (200, "ok")
    assert ask("/healthz/ttl-controller")[0] == 404


def test_a_controller_that_has_ended_is_no_longer_healthy_nor_running(manage):
    _, ask = manage("broken", "job")
    eventually(lambda: ask("/healthz")[0] == 500)

    assert "[-]broken-controller failed: reason withheld" in ask("/healthz")[1]
    assert ask("/livez")[0] == 200
    assert told(ask, "running_managed_controllers", name="broken-controller", manager="kube-controller-manager") == 0
    assert told(ask, "running_managed_controllers", name="job-controller", manager="kube-controller-manager") == 1


def test_queues_go_by_their_names_in_kubernetes(manage):
    client, ask = manage("pv-protection")

    client.create(PODS, {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "d"}})

    eventually(lambda: told(ask, "workqueue_work_duration_seconds_count", name="pvprotection") == 1)
    assert told(ask, "workqueue_adds_total", name="pvprotection") == 1


def test_it_is_ready_once_the_controllers_have_seen_the_world(manage):
    _, ask = manage("job")

    eventually(lambda: ask("/readyz") == (200, "ok"))
    assert "[+]informer-sync ok" in ask("/readyz", "verbose")[1]


def test_the_elected_one_says_that_it_leads(manage):
    _, ask = manage("job", **{"leader-elect": True})
    eventually(lambda: told(ask, "leader_election_master_status", name="kube-controller-manager") == 1)

    assert "[+]leaderElection ok" in ask("/healthz", "verbose")[1]
    assert told(ask, "kubernetes_build_info", major="1", minor="36", git_version="v1.36.2") == 1
    assert told(ask, "process_start_time_seconds") > 0


def test_the_configuration_goes_by_its_group(manage):
    _, ask = manage("job", **{"cluster-name": "seven"})

    shown = json.loads(ask("/configz")[1])["kubecontrollermanager.config.k8s.io"]

    assert shown["controllers"] == ["job"]
    assert shown["options"]["cluster-name"] == "seven"


def test_what_checks_said_is_counted(manage):
    _, ask = manage("job")
    ask("/healthz")

    assert 'kubernetes_healthcheck{name="job-controller",type="healthz"} 1' in ask("/metrics/slis")[1]


def test_a_cluster_in_one_process_shows_the_same_metrics(monkeypatch, entries):
    monkeypatch.setattr(module, "installed", lambda _family: entries("job"))
    monkeypatch.setattr(
        module,
        "load",
        lambda family, names, specs, context: PluginHost(family, specs, [("job", Looking(context("job")))]),
    )
    client = FakeClient(SystemClock())
    manager = ControllerManager(client_for=lambda _user: client, options=ManagerOptions.in_process(MANAGER, {}))
    manager.start()

    try:
        assert 'workqueue_depth{name="job"} 0.0' in measured(manager).body.decode()
    finally:
        manager.close()


class Counting(Looking):
    """Brings a metric of its own."""

    def __init__(self, context):
        super().__init__(context)
        context.metrics.register(self)

    def collect(self):
        yield CounterMetricFamily("things_counted", "Things.", value=3)


def test_what_a_controller_counts_itself_is_shown(monkeypatch, entries):
    monkeypatch.setattr(module, "installed", lambda _family: entries("job"))
    monkeypatch.setattr(
        module,
        "load",
        lambda family, names, specs, context: PluginHost(family, specs, [("job", Counting(context("job")))]),
    )
    client = FakeClient(SystemClock())
    manager = ControllerManager(client_for=lambda _user: client, options=ManagerOptions.in_process(MANAGER, {}))
    manager.start()

    try:
        assert "things_counted_total 3.0" in measured(manager).body.decode()
    finally:
        manager.close()
