"""The kubelet as a whole, with real processes."""

import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest
from hyperkube_host.kubelet.pod.pod_entry import PodState

from hyperkube.client.fake import FakeClient
from hyperkube.kinds.resources import CONFIG_MAPS, EVENTS, NODES, PODS
from hyperkube.machinery.clock import SystemClock

pytest.importorskip("hyperkube_runtime.process", reason="runs pods")

_spec = importlib.util.spec_from_file_location("kubelet_rig", Path(__file__).with_name("rig.py"))
rig_module = sys.modules.setdefault("kubelet_rig", importlib.util.module_from_spec(_spec))
_spec.loader.exec_module(rig_module)
running, shell, until = rig_module.running, rig_module.shell, rig_module.until


@pytest.fixture
def process(tmp_path):
    with running(tmp_path, "process") as rig:
        yield rig


def test_a_process_pod_runs_with_its_surroundings(process):
    process.client.create(
        CONFIG_MAPS,
        {"kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "default"}, "data": {"k": "v"}},
        "default",
    )
    script = 'test -n "$POD_IP" && test "$IP" = "$POD_IP" && cat $HYPERKUBE_ROOT/etc/conf/k; echo told > /dev/termination-log; exit 0'
    process.create(
        restartPolicy="Never",
        initContainers=[
            shell("echo first > $HYPERKUBE_ROOT/data/f", "i", volumeMounts=[{"name": "e", "mountPath": "/data"}])
        ],
        containers=[
            shell(
                script,
                env=[{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
                volumeMounts=[{"name": "m", "mountPath": "/etc/conf"}, {"name": "e", "mountPath": "/data"}],
            )
        ],
        volumes=[{"name": "m", "configMap": {"name": "cm"}}, {"name": "e", "emptyDir": {}}],
    )

    status = process.wait_phase("Succeeded")

    assert status["podIP"].startswith("127.")
    log = next(Path(process.kubelet.options.pods.root).glob("logs/default_p_*/c/0.log"))
    assert log.read_text().endswith("stdout P v\n")


def test_a_killed_process_is_restarted_and_counted(process):
    process.create(containers=[shell("echo $$$$ > $HYPERKUBE_ROOT/pid; exec sleep 1000")])
    process.wait_phase("Running")
    root = Path(process.kubelet.options.pods.root)
    pid = int(until(lambda: "".join(path.read_text() for path in root.glob("process/containers/*/rootfs/pid"))))

    os.kill(pid, signal.SIGKILL)

    again = until(
        lambda: (
            process.container()["restartCount"] == 1
            and "running" in process.container()["state"]
            and process.container()
        )
    )
    assert again["lastState"]["terminated"]["exitCode"] == 137


def test_another_image_says_what_to_do(process):
    process.create(containers=[{"name": "c", "image": "nginx", "imagePullPolicy": "IfNotPresent"}])

    waiting = process.wait_reason("ErrImagePull")["state"]["waiting"]

    assert "set image: host and give a command" in waiting["message"]
    assert process.status()["phase"] == "Pending"
    assert any(reason == "Failed" and "nginx" in message for reason, message in process.events())


def test_a_missing_config_map_holds_the_pod_back_until_it_is_there(process):
    process.create(
        restartPolicy="Never", containers=[shell("true")], volumes=[{"name": "m", "configMap": {"name": "late"}}]
    )
    text = 'MountVolume.SetUp failed for volume "m" : configmap "late" not found'
    until(lambda: ("FailedMount", text) in process.events())
    held = process.status()

    process.client.create(
        CONFIG_MAPS, {"kind": "ConfigMap", "metadata": {"name": "late", "namespace": "default"}}, "default"
    )

    assert held["containerStatuses"][0]["state"]["waiting"]["reason"] == "ContainerCreating"
    process.wait_phase("Succeeded")


def test_a_missing_key_is_a_configuration_error(process):
    env = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "nosuch", "key": "k"}}}]
    process.create(containers=[shell("true", env=env)])

    waiting = process.wait_reason("CreateContainerConfigError")["state"]["waiting"]

    assert waiting["message"] == 'configmap "nosuch" not found'


def test_a_failing_liveness_probe_restarts_the_container(process):
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    process.create(containers=[shell("sleep 1000", livenessProbe=probe)])

    until(lambda: process.status().get("phase") == "Running" and process.container()["restartCount"] >= 1)

    events = process.events()
    assert ("Killing", "Container c failed liveness probe, will be restarted") in events
    assert any(reason == "Unhealthy" for reason, _ in events)


@pytest.mark.slow
def test_a_readiness_probe_makes_a_pod_ready_and_unready(process):
    probe = {"exec": {"command": ["sh", "-c", "test -e $HYPERKUBE_ROOT/ok"]}, "periodSeconds": 1, "failureThreshold": 1}
    process.create(containers=[shell("sleep 1000", readinessProbe=probe)])
    process.wait_phase("Running")
    before = process.container()["ready"]
    (rootfs,) = Path(process.kubelet.options.pods.root).glob("process/containers/*/rootfs")

    (rootfs / "ok").touch()

    until(lambda: process.container()["ready"])
    assert not before


def test_hooks_run_at_start_and_end(process, tmp_path):
    lifecycle = {
        "postStart": {"exec": {"command": ["touch", str(tmp_path / "started")]}},
        "preStop": {"exec": {"command": ["touch", str(tmp_path / "stopping")]}},
    }
    process.create(containers=[shell("sleep 1000", lifecycle=lifecycle)])
    process.wait_phase("Running")
    started = (tmp_path / "started").exists()

    process.client.delete(PODS, "p", "default")
    until(process.gone)

    assert started
    assert (tmp_path / "stopping").exists()


def test_a_failing_post_start_hook_ends_the_container(process):
    lifecycle = {"postStart": {"exec": {"command": ["false"]}}}
    process.create(containers=[shell("sleep 1000", lifecycle=lifecycle)])

    process.wait_reason("PostStartHookError")

    assert ("FailedPostStartHook", "PostStartHook failed") in process.events()


def test_a_failing_post_start_hook_stops_its_container_as_any_other_one(process, tmp_path):
    lifecycle = {
        "postStart": {"exec": {"command": ["false"]}},
        "preStop": {"exec": {"command": ["touch", str(tmp_path / "stopping")]}},
    }
    process.create(containers=[shell("sleep 1000", lifecycle=lifecycle)])

    process.wait_reason("PostStartHookError")

    assert (tmp_path / "stopping").exists()


def test_a_restarted_kubelet_adopts_its_pods(tmp_path):
    client = FakeClient(SystemClock())
    with running(tmp_path, "process", client, **{"stop-pods-on-close": False}) as before:
        before.create(containers=[shell("sleep 1000")])
        first = before.wait_phase("Running")

    with running(tmp_path, "process", client) as after:
        until(lambda: after.kubelet.pods.entries() and after.kubelet.pods.entries()[0].is_admitted)
        second = after.status()

    assert second["containerStatuses"][0]["containerID"] == first["containerStatuses"][0]["containerID"]
    assert (second["podIP"], second["containerStatuses"][0]["restartCount"]) == (first["podIP"], 0)


def test_pods_deleted_while_no_kubelet_ran_are_ended(tmp_path):
    client = FakeClient(SystemClock())
    with running(tmp_path, "process", client, **{"stop-pods-on-close": False}) as before:
        before.create(containers=[shell("sleep 1000")])
        before.wait_phase("Running")
    client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})

    with running(tmp_path, "process", client) as after:
        until(lambda: not after.kubelet.runtime.containers())

    assert list((tmp_path / "pods").iterdir()) == []


@pytest.mark.slow
def test_an_image_that_cannot_be_had_shows_that_it_waits(process):
    process.create(containers=[{"name": "c", "image": "nginx", "imagePullPolicy": "IfNotPresent"}])

    waiting = process.wait_reason("ImagePullBackOff")["state"]["waiting"]

    assert waiting["message"].startswith('Back-off pulling image "nginx": ErrImagePull: ')


def test_a_termination_message_survives_the_kubelet(tmp_path):
    client = FakeClient(SystemClock())
    with running(tmp_path, "process", client) as before:
        before.create(restartPolicy="Never", containers=[shell("echo told > $HYPERKUBE_ROOT/dev/termination-log")])
        before.wait_phase("Succeeded")
        first = before.container()["state"]["terminated"]["message"]

    with running(tmp_path, "process", client) as after:
        until(lambda: after.kubelet.pods.entries() and after.kubelet.pods.entries()[0].state is PodState.TERMINATED)
        second = after.container()["state"]["terminated"]["message"]

    assert first == second == "told\n"


def test_a_container_can_be_added_to_look_into_a_pod(process):
    process.create(containers=[shell("sleep 1000")])
    process.wait_phase("Running")
    added = {"spec": {"ephemeralContainers": [shell("echo looking", "debug")]}}

    process.client.patch(PODS, "p", added, "default")

    found = until(lambda: process.status().get("ephemeralContainerStatuses"))
    until(lambda: "terminated" in process.status()["ephemeralContainerStatuses"][0]["state"])
    assert found[0]["name"] == "debug"
    assert process.status()["phase"] == "Running"


@pytest.mark.slow
def test_a_deletion_without_grace_hurries_a_stop_that_is_under_way(process):
    process.create(containers=[shell("trap '' TERM; while :; do sleep 0.05; done")], terminationGracePeriodSeconds=100)
    process.wait_phase("Running")
    process.client.delete(PODS, "p", "default")
    until(lambda: ("Killing", "Stopping container c") in process.events())

    process.client.delete(PODS, "p", "default", options={"gracePeriodSeconds": 0})

    until(lambda: not process.kubelet.runtime.containers())


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_container_of_another_user_reaches_its_volumes_and_no_other_user_does(process):
    process.create(
        restartPolicy="Never",
        containers=[
            shell(
                "id -u; echo mine > /data/f && cat /data/f",
                securityContext={"runAsUser": 65534, "runAsGroup": 65534},
                volumeMounts=[{"name": "e", "mountPath": "/data"}],
            )
        ],
        volumes=[{"name": "e", "emptyDir": {}}],
    )

    process.wait_phase("Succeeded")

    root = Path(process.kubelet.options.pods.root)
    texts = [line.split(" ", 3)[3] for line in next(root.glob("logs/default_p_*/c/0.log")).read_text().splitlines()]
    assert texts == ["65534", "mine"]
    assert (root / "pods").stat().st_mode & 0o077 == 0


def events(process, reason):
    return [event for event in process.client.list(EVENTS, "default").items if event["reason"] == reason]


def test_a_container_killed_by_its_liveness_probe_waits_for_the_back_off(process):
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}

    process.create(containers=[shell("exec sleep 1000", livenessProbe=probe)])
    status = process.wait_reason("CrashLoopBackOff")

    assert status["restartCount"] == 1
    assert status["state"]["waiting"]["message"].startswith("back-off 10s restarting failed container=c")
    assert len(until(lambda: events(process, "BackOff"))) == 1


def test_a_pod_is_told_once_what_its_node_does_not_honour(process):
    security = {"seccompProfile": {"type": "RuntimeDefault"}, "allowPrivilegeEscalation": False}
    process.create(restartPolicy="Never", containers=[shell("true", securityContext=security)])
    process.wait_phase("Succeeded")

    (event,) = until(lambda: events(process, "FieldsNotHonoured"))

    assert event["type"] == "Warning"
    assert event["message"] == (
        "the process runtime of this node does not honour: spec.containers[0].securityContext.seccompProfile"
    )


def test_a_volume_with_a_path_that_cannot_be_is_refused_once(process):
    process.client.create(
        CONFIG_MAPS,
        {"kind": "ConfigMap", "metadata": {"name": "cm", "namespace": "default"}, "data": {"k": "v"}},
        "default",
    )
    items = [{"key": "k", "path": "a\0b"}]
    process.create(
        containers=[shell("true", volumeMounts=[{"name": "m", "mountPath": "/etc/conf"}])],
        volumes=[{"name": "m", "configMap": {"name": "cm", "items": items}}],
    )
    (event,) = until(lambda: events(process, "FailedMount"))

    (entry,) = process.kubelet.pods.entries()
    until(lambda: entry.volumes_refused)  # the event may be there before the sync that recorded it has ended
    for _ in range(3):
        process.kubelet._services.worker.sync(entry)

    assert "must not contain NUL" in event["message"]
    assert [event.get("count", 1) for event in events(process, "FailedMount")] == [1]
    assert list(Path(process.kubelet.options.pods.root).glob("pods/*/volumes/*/m/*")) == []


@pytest.mark.parametrize("keeps", [False, True], ids=["taken with the end", "kept until the pod is deleted"])
def test_the_volumes_of_a_pod_that_has_ended(tmp_path, keeps):
    with running(tmp_path, "process", **{"keep-terminated-pod-volumes": keeps}) as rig:
        script = shell("echo kept > $HYPERKUBE_ROOT/data/f", volumeMounts=[{"name": "e", "mountPath": "/data"}])
        rig.create(restartPolicy="Never", containers=[script], volumes=[{"name": "e", "emptyDir": {}}])
        rig.wait_phase("Succeeded")
        (entry,) = rig.kubelet.pods.entries()
        until(lambda: entry.state is PodState.TERMINATED)

        def files():
            return [file.read_text() for file in tmp_path.glob("pods/*/volumes/*/e/f")]

        after_the_end = files()
        rig.client.delete(PODS, "p", "default")
        until(lambda: rig.gone() and files() == [])
        annotations = rig.client.get(NODES, rig_module.NODE)["metadata"]["annotations"]

    assert after_the_end == (["kept\n"] if keeps else [])
    assert annotations.get("volumes.kubernetes.io/keep-terminated-pod-volumes") == ("true" if keeps else None)
