"""The kubelet as a whole, with simulated pods."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from hyperkube.client.fake import FakeClient
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.cloud import Cloud, CloudUnavailable, InstanceMetadata
from hyperkube.kinds.conditions import condition
from hyperkube.kinds.resources import LEASES, NODES, PODS
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin import Plugin

pytest.importorskip("hyperkube_runtime.hollow", reason="simulates pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).with_name("rig.py"))
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)
running, shell, until = rig_module.running, rig_module.shell, rig_module.until

HOLLOW = [{"name": "c", "image": "nginx"}]


@pytest.fixture
def hollow(tmp_path):
    with running(tmp_path) as rig:
        yield rig


# the node


def test_the_node_registers_with_status_and_lease(hollow):
    node = until(
        lambda: (
            condition(hollow.client.get(NODES, "n1").get("status") or {}, "Ready") and hollow.client.get(NODES, "n1")
        )
    )

    assert node["metadata"]["labels"]["kubernetes.io/hostname"] == "n1"
    assert [entry["type"] for entry in node["status"]["conditions"]] == [
        "MemoryPressure", "DiskPressure", "PIDPressure", "Ready",
    ]  # fmt: skip
    assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": "127.0.0.1"}
    assert node["status"]["nodeInfo"]["containerRuntimeVersion"] == "hollow://1.0.0"
    lease = until(lambda: hollow.client.objects(LEASES))[0]
    assert (lease["spec"]["holderIdentity"], lease["spec"]["leaseDurationSeconds"]) == ("n1", 40)


def test_a_reboot_of_the_node_is_told(tmp_path):
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    client = FakeClient(SystemClock())
    client.seed(NODES, {"metadata": {"name": "n1"}, "spec": {}, "status": {"nodeInfo": {"bootID": "earlier"}}})

    with running(tmp_path, client=client) as rig:
        until(lambda: condition(rig.client.get(NODES, "n1").get("status") or {}, "Ready"))
        told = until(lambda: [event for event in rig.events() if event[0] == "Rebooted"])

    assert told == [("Rebooted", f"Node n1 has been rebooted, boot id: {boot_id}")]


def test_an_unknown_runtime_is_told_in_one_line(tmp_path):
    told = r'^unsupported CRI runtime: "rkt" \(installed: .*process.*remote'
    with pytest.raises(UsageError, match=told), running(tmp_path, "rkt"):
        pass


def test_labels_and_taints_are_registered(tmp_path):
    options = {"node-labels": {"zone": "a"}, "register-with-taints": ("dedicated=db:NoSchedule",)}
    with running(tmp_path, **options) as rig:
        node = rig.client.get(NODES, "n1")

    assert node["metadata"]["labels"]["zone"] == "a"
    assert node["spec"]["taints"] == [{"key": "dedicated", "value": "db", "effect": "NoSchedule"}]


# simulated pods


def test_a_pod_runs_and_is_deleted(hollow):
    hollow.create(containers=HOLLOW)
    status = hollow.wait_phase("Running")

    hollow.client.delete(PODS, "p", "default")

    assert condition(status, "Ready")["status"] == "True"
    until(hollow.gone)
    until(lambda: not hollow.kubelet.runtime.sandboxes())
    assert ("Killing", "Stopping container c") in hollow.events()


def test_events_tell_of_a_start(hollow):
    hollow.create(containers=[{"name": "c", "image": "nginx:1"}])
    hollow.wait_phase("Running")

    assert [pair for pair in hollow.events() if not pair[0].startswith("Node") and pair[0] != "Starting"] == [
        ("Pulled", 'Container image "nginx:1" already present on machine and can be accessed by the pod'),
        ("Created", "Container created"),
        ("Started", "Container started"),
    ]


def test_a_pod_that_completes_succeeds(hollow):
    hollow.create(containers=HOLLOW, restartPolicy="Never", annotations={"hyperkube.dev/hollow-exit-after": "10ms"})

    status = hollow.wait_phase("Succeeded")

    assert condition(status, "Ready")["reason"] == "PodCompleted"


def test_a_pod_that_fails_fails(hollow):
    annotations = {"hyperkube.dev/hollow-exit-after": "10ms", "hyperkube.dev/hollow-exit-code": "2"}
    hollow.create(containers=HOLLOW, restartPolicy="Never", annotations=annotations)

    status = hollow.wait_phase("Failed")

    assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 2


def test_a_crashing_container_backs_off(hollow):
    annotations = {"hyperkube.dev/hollow-exit-after": "10ms", "hyperkube.dev/hollow-exit-code": "2"}
    pod = hollow.create(containers=HOLLOW, annotations=annotations)

    status = hollow.wait_reason("CrashLoopBackOff")

    uid = pod["metadata"]["uid"]
    assert status["restartCount"] == 1
    assert status["state"]["waiting"]["message"] == f"back-off 10s restarting failed container=c pod=p_default({uid})"
    assert ("BackOff", f"Back-off restarting failed container c in pod p_default({uid})") in hollow.events()


def test_a_pod_that_does_not_fit_is_refused(hollow):
    until(lambda: hollow.kubelet.node.node().get("status"))
    hollow.create(containers=[{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1000"}}}])

    status = hollow.wait_phase("Failed")

    assert status["reason"] == "OutOfcpu"
    assert status["message"].startswith("Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000")


def test_a_rejected_pod_is_forgotten_once_it_is_deleted(hollow):
    until(lambda: hollow.kubelet.node.node().get("status"))
    hollow.create(containers=[{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1000"}}}])
    hollow.wait_phase("Failed")

    hollow.client.delete(PODS, "p", "default")

    until(hollow.gone)
    until(lambda: not hollow.kubelet.pods.entries())


@pytest.mark.slow
def test_a_pod_over_its_deadline_is_ended(hollow):
    hollow.create(containers=HOLLOW, activeDeadlineSeconds=1)

    status = hollow.wait_phase("Failed")

    assert (status["reason"], status["message"]) == (
        "DeadlineExceeded", "Pod was active on the node longer than the specified deadline",
    )  # fmt: skip


def test_a_pod_that_vanishes_from_the_api_is_ended(hollow):
    hollow.create(containers=HOLLOW)
    hollow.wait_phase("Running")

    hollow.client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})

    until(lambda: not hollow.kubelet.runtime.sandboxes())


@pytest.mark.slow
def test_a_status_that_cannot_be_written_is_written_later(hollow):
    hollow.client.fail_next("patch", "pods", ConnectionError("no server"))

    hollow.create(containers=HOLLOW)

    hollow.wait_phase("Running")


def test_static_pods_run_and_show_as_mirrors(tmp_path):
    manifests = tmp_path / "manifests"
    manifests.mkdir()
    (manifests / "web.yaml").write_text(
        json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}, "spec": {"containers": HOLLOW}})
    )

    with running(tmp_path, **{"pod-manifest-path": str(manifests), "file-check-frequency": 0.05}) as rig:
        status = until(
            lambda: not rig.gone("web-n1") and rig.status("web-n1").get("phase") == "Running" and rig.status("web-n1")
        )
        mirror = rig.client.get(PODS, "web-n1", "default")
        rig.client.delete(PODS, "web-n1", "default")
        again = until(
            lambda: (
                not rig.gone("web-n1")
                and rig.client.get(PODS, "web-n1", "default")["metadata"]["uid"] != mirror["metadata"]["uid"]
            )
        )
        (manifests / "web.yaml").unlink()
        until(lambda: rig.gone("web-n1"))
        until(lambda: not rig.kubelet.runtime.sandboxes())

    assert mirror["metadata"]["annotations"]["kubernetes.io/config.source"] == "file"
    assert status["containerStatuses"][0]["ready"]
    assert again


def test_a_stand_alone_kubelet_runs_static_pods(tmp_path):
    from hyperkube_host.kubelet.kubelet import Kubelet

    manifest = tmp_path / "web.json"
    manifest.write_text(
        json.dumps({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web"}, "spec": {"containers": HOLLOW}})
    )
    options = {
        "hostname-override": "n1",
        "root-dir": str(tmp_path / "root"),
        "container-runtime": "hollow",
        "config": str(manifest),
        "node-ip": "127.0.0.1",
    }
    kubelet = Kubelet(client=None, options=rig_module.kubelet_options(options))

    kubelet.start()
    until(lambda: [status.state for status in kubelet.runtime.containers()] == ["running"])
    kubelet.close()


def test_logs_of_pods_that_went_while_no_kubelet_ran_are_removed(tmp_path):
    logs = tmp_path / "logs"
    for name in ("default_gone_1234", "not-a-pods"):
        (logs / name / "c").mkdir(parents=True)
        (logs / name / "c" / "0.log").write_text("line")

    with running(tmp_path):
        until(lambda: not (logs / "default_gone_1234").exists())

    assert (logs / "not-a-pods" / "c" / "0.log").exists()


def test_a_node_that_registers_tells_that_it_has_room(tmp_path):
    room = [f"NodeHas{what}" for what in ("SufficientMemory", "NoDiskPressure", "SufficientPID")]

    class StatusKept(rig_module.FakeClient):
        """Keeps the status of a new Node, as an API server does."""

        def create(self, resource, obj, *where, **options):
            made = super().create(resource, obj, *where, **options)
            if resource != NODES:
                return made
            return self.patch(NODES, obj["metadata"]["name"], {"status": obj["status"]}, subresource="status")

    with running(tmp_path, client=StatusKept(rig_module.SystemClock())) as rig:
        until(lambda: ("Starting", "Starting kubelet.") in rig.events())
        told = [pair for pair in rig.events() if pair[0].startswith("NodeHas")]

    assert told == [(reason, f"Node n1 status is now: {reason}") for reason in room]


def test_a_cordoned_node_says_so(tmp_path):
    with running(tmp_path, **{"node-status-update-frequency": 0.1}) as rig:
        rig.client.patch(NODES, "n1", {"spec": {"unschedulable": True}})

        told = ("NodeNotSchedulable", "Node n1 status is now: NodeNotSchedulable")
        until(lambda: told in rig.events())

        rig.client.patch(NODES, "n1", {"spec": {"unschedulable": None}})
        until(lambda: ("NodeSchedulable", "Node n1 status is now: NodeSchedulable") in rig.events())


def test_a_kubelet_that_may_not_register_waits_for_its_node(tmp_path):
    client = rig_module.FakeClient(rig_module.SystemClock())
    rig = rig_module.Rig(tmp_path, client, "hollow", **{"register-node": False})
    rig.kubelet.start()
    try:
        client.create(NODES, {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "spec": {}})
        until(lambda: condition(client.get(NODES, "n1").get("status") or {}, "Ready"))

        made = [action for action in client.actions if action[:2] == ("create", "nodes")]
        assert len(made) == 1
        assert client.get(NODES, "n1")["status"]["daemonEndpoints"] == {"kubeletEndpoint": {"Port": 10250}}
    finally:
        rig.kubelet.close()


def test_with_an_external_cloud_the_node_waits_for_it_and_keeps_its_addresses(tmp_path):
    with running(tmp_path, **{"cloud-provider": "external", "node-status-update-frequency": "100ms"}) as rig:
        until(lambda: (rig.client.get(NODES, "n1").get("status") or {}).get("addresses"))
        registered = rig.client.get(NODES, "n1")
        found = [{"type": "ExternalIP", "address": "203.0.113.9"}]
        rig.client.patch(NODES, "n1", {"status": {"addresses": found}}, subresource="status")
        # The next report is written with what the cloud has found.
        rig.client.patch(NODES, "n1", {"status": {"conditions": []}}, subresource="status")
        until(lambda: condition(rig.client.get(NODES, "n1")["status"], "Ready"))
        after = rig.client.get(NODES, "n1")["status"]["addresses"]

    uninitialized = {"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}
    assert registered["spec"]["taints"] == [uninitialized]
    assert registered["metadata"]["annotations"]["alpha.kubernetes.io/provided-node-ip"] == "127.0.0.1"
    assert [row["type"] for row in registered["status"]["addresses"]] == ["InternalIP", "Hostname"]
    assert after == found


def test_with_an_external_cloud_addresses_that_were_not_given_are_the_clouds(tmp_path):
    with running(tmp_path, **{"cloud-provider": "external", "node-ip": ""}) as rig:
        until(lambda: rig.client.get(NODES, "n1").get("status"))
        node = rig.client.get(NODES, "n1")

    assert "alpha.kubernetes.io/provided-node-ip" not in node["metadata"]["annotations"]
    assert node["status"]["addresses"] == []


class NotesNodes(FakeClient):
    """Notes what is asked about nodes."""

    def __init__(self):
        super().__init__(SystemClock())
        self.asked = set()

    def get(self, resource, name, *more, **options):
        if resource == NODES:
            self.asked.add(("get", name))
        return super().get(resource, name, *more, **options)

    def list(self, resource, *more, **options):
        if resource == NODES:
            self.asked.add(("list", str(options.get("field_selector", ""))))
        return super().list(resource, *more, **options)

    def watch(self, resource, *more, **options):
        if resource == NODES:
            self.asked.add(("watch", str(options.get("field_selector", ""))))
        return super().watch(resource, *more, **options)


def test_the_kubelet_reads_its_own_node_alone(tmp_path):
    client = NotesNodes()
    client.seed(NODES, {"metadata": {"name": "n2"}, "spec": {}})
    with running(tmp_path, client=client) as rig:
        rig.create("p", containers=HOLLOW)
        rig.wait_phase("Running", "p")

    assert client.asked == {("get", "n1")}


def test_a_pod_of_an_unknown_runtime_class_does_not_start_and_says_why(hollow):
    hollow.create("p", containers=HOLLOW, runtimeClassName="gvisor")

    def told():
        return [message for reason, message in hollow.events() if reason == "FailedCreatePodSandBox"]

    (message, *_) = until(told)
    assert message.startswith("Failed to create pod sandbox: ")
    assert '"gvisor"' in message
    assert hollow.status("p").get("phase", "Pending") == "Pending"


class Machines:
    """Instances of a cloud that is away when it is asked first; `calls` are how often it was asked."""

    calls = 0

    def metadata(self, node):
        Machines.calls += 1
        if Machines.calls == 1:
            raise CloudUnavailable("the cloud is away")
        row = {"type": "InternalIP", "address": "10.0.0.4"}
        return InstanceMetadata(provider_id=f"gce://p/z/{node['metadata']['name']}", addresses=(row,), zone="z")


class OneCloud(Plugin):
    """That cloud."""

    @hookimpl
    def cloud_provider(self):
        return Cloud(name="gce", instances=Machines(), routes=Machines())


class KeepsNodes(FakeClient):
    """Keeps nodes as they are registered: with the status that an API server takes as well."""

    def create(self, resource, obj, *more, **options):
        if resource == NODES:
            self.registered = obj
        return super().create(resource, obj, *more, **options)


def test_a_node_registers_once_its_own_cloud_has_said_what_it_is(tmp_path, monkeypatch):
    pytest.importorskip("hyperkube_cloud.gce")
    monkeypatch.setattr("hyperkube_cloud.gce.Gce", OneCloud)
    monkeypatch.setattr(Machines, "calls", 0)
    client = KeepsNodes(SystemClock())
    options = {"cloud-provider": "gce", "node-status-update-frequency": "200ms", "node-ip": ""}
    with running(tmp_path, client=client, **options) as rig:
        until(lambda: any("status" in node for node in rig.client.objects(NODES)))
        node = rig.client.get(NODES, "n1")

    assert node["spec"] == {"providerID": "gce://p/z/n1"}
    assert node["metadata"]["labels"]["topology.kubernetes.io/zone"] == "z"
    assert node["status"]["addresses"] == [
        {"type": "InternalIP", "address": "10.0.0.4"},
        {"type": "Hostname", "address": "n1"},
    ]
    assert condition(client.registered["status"], "NetworkUnavailable")["reason"] == "NoRouteCreated"


def test_a_cloud_that_knows_no_machines_leaves_the_node_as_it_is(tmp_path):
    pytest.importorskip("hyperkube_cloud.local")
    with running(tmp_path, **{"cloud-provider": "local"}) as rig:
        until(lambda: any("status" in node for node in rig.client.objects(NODES)))
        node = rig.client.get(NODES, "n1")

    assert "providerID" not in node["spec"]
    assert node["status"]["addresses"][0] == {"type": "InternalIP", "address": "127.0.0.1"}
