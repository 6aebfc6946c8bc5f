"""What a pod spec says, seen in the containers themselves."""

from __future__ import annotations

import dataclasses

import pytest
from hyperkube_testing.lab.images import busybox
from hyperkube_testing.lab.requirements import missing_for_registry

from hyperkube.testing.waiting import eventually


def status_of(cluster, pod):
    return (cluster.get("pod", pod)["status"].get("containerStatuses") or [{}])[0]


def in_container(cluster, pod, *words):
    return cluster.kubectl("exec", pod, "-c", "c", "--", *words).stdout


def events_of(cluster, pod):
    return cluster.get("events", f"--field-selector=involvedObject.name={pod}")


def test_too_much_memory_is_an_oom_kill(cluster):
    state = eventually(lambda: status_of(cluster, "hungry").get("state", {}).get("terminated"), 60)

    assert (state["reason"], state["exitCode"]) == ("OOMKilled", 137)
    assert cluster.get("pod", "hungry")["status"]["phase"] == "Failed"


def test_resize_in_place_reaches_the_cgroup(cluster, node):
    cluster.kubectl("wait", "--for=condition=Ready", "pod/elastic", "--timeout=60s")
    before = status_of(cluster, "elastic")
    limits = [in_container(cluster, "elastic", "cat", f"/sys/fs/cgroup/{file}") for file in FILES]
    assert [int(limit) for limit in limits] == [10000, 32 << 20]

    resources = {"requests": {"cpu": "200m", "memory": "64Mi"}, "limits": {"cpu": "200m", "memory": "64Mi"}}
    patch = f'{{"spec": {{"containers": [{{"name": "c", "resources": {resources}}}]}}}}'.replace("'", '"')
    cluster.kubectl("patch", "pod", "elastic", "--subresource=resize", "--patch", patch)

    def resized():
        return [int(in_container(cluster, "elastic", "cat", f"/sys/fs/cgroup/{file}")) for file in FILES] == [
            20000,
            64 << 20,
        ]

    eventually(resized, 30)
    after = eventually(lambda: (s := status_of(cluster, "elastic"))["resources"]["limits"]["cpu"] == "200m" and s)
    assert (after["containerID"], after["restartCount"]) == (before["containerID"], 0)


FILES = ("cpu/cpu.cfs_quota_us", "memory/memory.limit_in_bytes")


def test_volumes_of_a_stateful_set(cluster, node):
    cluster.kubectl("rollout", "status", "statefulset/database", "--timeout=90s")

    name, owners = "database-0", "cat"
    assert in_container(cluster, name, owners, "/data/owners") == "database-0\n"
    assert in_container(cluster, name, "cat", "/etc/settings/colour", "/etc/all/password", "/etc/all/name") == (
        "greenopen sesamedatabase-0"
    )
    in_container(cluster, name, "sh", "-c", "echo kept > /part/note; echo > /scratch/x; df /scratch | grep -q tmpfs")
    assert cluster.kubectl("exec", name, "-c", "c", "--", "touch", "/etc/all/x", check=False).returncode == 1
    volume = cluster.get("pvc", "data-database-0")["spec"]["volumeName"]
    assert node.read(f"/var/lib/volumes/{volume}/inner/note") == "kept\n"

    uid = cluster.get("pod", name)["metadata"]["uid"]
    cluster.kubectl("delete", "pod", name, "--wait=true")
    eventually(lambda: cluster.get("pods", "-l", "app=database")[0]["metadata"]["uid"] != uid, 60)
    cluster.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=60s")

    assert in_container(cluster, name, owners, "/data/owners", "/part/note") == "database-0\ndatabase-0\nkept\n"


def test_a_failed_pull_says_why_and_backs_off(cluster):
    image = "192.168.77.1:5000/no/such:1"

    def waiting(reason):
        state = status_of(cluster, "unpullable").get("state", {}).get("waiting", {})
        return state.get("reason") == reason and state

    state = eventually(lambda: waiting("ImagePullBackOff"), 60)

    assert state["message"].startswith(f'Back-off pulling image "{image}": ErrImagePull: ')
    messages = {(event["reason"], event["type"]): event["message"] for event in events_of(cluster, "unpullable")}
    assert messages["Pulling", "Normal"] == f'Pulling image "{image}"'
    assert messages["BackOff", "Normal"] == f'Back-off pulling image "{image}"'
    assert any(
        event["message"].startswith(f'Failed to pull image "{image}": ') and "connection refused" in event["message"]
        for event in events_of(cluster, "unpullable")
    )


@pytest.mark.skipif(bool(missing_for_registry()), reason=missing_for_registry())
def test_a_registry_is_asked_with_the_pods_secret(cluster, node):
    registry = cluster.lab.registry()
    # An image of its own: the kubelet asks pods without the secret for it, whatever else the image is called.
    own = dataclasses.replace(busybox(), tags=["docker.io/library/private:lab"], labels={"owner": "registry"})
    node.load([own])
    image = registry.push(node, own.tags[0], "private/busybox:1")
    spec = {
        "terminationGracePeriodSeconds": 1,
        "containers": [{"name": "c", "image": image, "command": ["sleep", "1000"]}],
    }
    meta = {"namespace": "default"}
    secret = {"type": "kubernetes.io/dockerconfigjson", "stringData": {".dockerconfigjson": registry.pull_secret()}}
    cluster.apply(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "stranger"}, "spec": spec},
    )
    eventually(
        lambda: (
            status_of(cluster, "stranger").get("state", {}).get("waiting", {}).get("reason")
            in {"ErrImagePull", "ImagePullBackOff"}
        ),
    )
    assert any("401 Unauthorized" in event["message"] for event in events_of(cluster, "stranger"))

    cluster.apply(
        {"apiVersion": "v1", "kind": "Secret", "metadata": {**meta, "name": "registry"}, **secret},
        {
            "apiVersion": "v1", "kind": "Pod", "metadata": {**meta, "name": "guest"},
            "spec": {**spec, "imagePullSecrets": [{"name": "registry"}]},
        },
    )  # fmt: skip

    cluster.kubectl("wait", "--for=condition=Ready", "pod/guest", "--timeout=60s")
    assert status_of(cluster, "guest")["imageID"].startswith(image.rpartition(":")[0] + "@sha256:")


def test_a_cron_job_ran(cluster):
    def logs():
        pods = [pod["metadata"]["name"] for pod in cluster.get("pods") if "every-minute" in pod["metadata"]["name"]]
        return pods and cluster.kubectl("logs", pods[0], check=False).stdout

    assert eventually(logs, 80) == "the job ran\n"
    eventually(lambda: cluster.get("jobs")[0]["status"].get("succeeded") == 1)
