"""The turn-key master: one kubelet, told nothing but a folder of manifests, brings up the whole control plane."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hyperkube_testing.lab import images
from hyperkube_testing.lab.requirements import missing_for_docker
from remote_runtime import needs_remote

from hyperkube.testing.waiting import eventually

pytestmark = [
    pytest.mark.skipif(shutil.which("etcd") is None, reason="no etcd"),
    pytest.mark.timeout(400),  # the image is built once, of some hundred megabytes, and unpacked by each runtime
]

BIN = Path(sys.executable).parent
HYPERKUBE = BIN / "hyperkube"
KUBELET = [
    "hyperkube",
    "kubelet",
    "--api-servers=http://localhost:8080",
    "--v=2",
    "--address=0.0.0.0",
    "--enable-server",
    "--hostname-override=127.0.0.1",
    "--config=/etc/kubernetes/manifests",
]
PROXY = ["hyperkube", "proxy", "--master=http://127.0.0.1:8080", "--v=2"]
ENVIRONMENT = {"PATH": f"{BIN}:/usr/sbin:/usr/bin:/sbin:/bin", "KUBECONFIG": "/dev/null"}
CONTAINERS = ["apiserver", "controller-manager", "etcd", "scheduler"]


def kubectl(place, *words, check=True):
    return place.run("kubectl", "--server=http://127.0.0.1:8080", *words, check=check, env=ENVIRONMENT).stdout


def write_manifest(place, image):
    manifest = subprocess.run(
        [HYPERKUBE, "image", "manifest", f"--image={image}"], capture_output=True, text=True, check=True
    )
    place.write("/etc/kubernetes/manifests/master.json", manifest.stdout)


def wait_for_master(place, kubelet):
    """Wait until the node is Ready and the master's pod runs; return the pod's containers and what they run in."""

    def is_up():
        assert kubelet.running(), kubelet.output()[-4000:]
        return "True" in kubectl(
            place, "get", "node", "127.0.0.1", "-o",
            "jsonpath={.status.conditions[?(@.type=='Ready')].status}", check=False,
        )  # fmt: skip

    eventually(is_up, 180, why="the node 127.0.0.1 is Ready")
    kubectl(place, "wait", "--for=condition=Ready", "pod/k8s-master-127.0.0.1", "--timeout=60s")
    path = "{range .status.containerStatuses[?(@.ready==true)]}{.name} {end}"
    return sorted(kubectl(place, "get", "pod", "k8s-master-127.0.0.1", "-o", f"jsonpath={path}").split())


def start_master(place, *flags):
    """Start the two command lines of the guide, with more flags for the kubelet; return both when the master is up."""
    kubelet = place.start(*KUBELET, *flags, env=ENVIRONMENT)
    proxy = place.start(*PROXY, env=ENVIRONMENT)
    assert wait_for_master(place, kubelet) == CONTAINERS
    eventually(lambda: kubectl(place, "get", "serviceaccount", "default", check=False), why="controllers work")
    return kubelet, proxy


def test_the_process_runtime_starts_the_master(hyperkube_places):
    place = hyperkube_places.place("box", cgroups=True, disk="1g")
    write_manifest(place, "host")

    kubelet, proxy = start_master(place)

    kubectl(place, "create", "deployment", "web", "--image=host", "--", "sleep", "1000")
    kubectl(place, "rollout", "status", "deployment/web", "--timeout=60s")
    assert proxy.running()
    assert "process://" in kubectl(place, "get", "nodes", "-o", "wide")
    for program in (proxy, kubelet):
        program.stop()


@pytest.fixture(scope="module")
def own_image(tmp_path_factory):
    """The archive of hyperkube's own image."""
    archive = tmp_path_factory.mktemp("image") / "hyperkube.tar"
    subprocess.run([HYPERKUBE, "image", "build", "--output", archive], check=True)
    return archive


def test_containerd_starts_the_master_from_our_own_image(hyperkube_lab, own_image):
    needs_remote()
    node = hyperkube_lab.node("master-node")
    node.load_archive(own_image)
    write_manifest(node, "docker.io/library/hyperkube:latest")

    kubelet, proxy = start_master(node)

    kubectl(node, "create", "deployment", "web", "--image=busybox:lab", "--", "sleep", "1000")
    kubectl(node, "rollout", "status", "deployment/web", "--timeout=60s")
    assert "containerd://" in kubectl(node, "get", "nodes", "-o", "wide")
    for program in (proxy, kubelet):
        program.stop()
    node.containerd.stop()


@pytest.mark.skipif(bool(missing_for_docker()), reason=missing_for_docker())
def test_docker_starts_the_master_from_our_own_image(hyperkube_lab, own_image):
    node = hyperkube_lab.docker_node("docker-master")
    node.load_archive(own_image)
    write_manifest(node, "docker.io/library/hyperkube:latest")

    flags = ("--container-runtime=docker", f"--pod-infra-container-image={images.PAUSE}")
    kubelet, proxy = start_master(node, *flags)

    kubectl(node, "create", "deployment", "web", "--image=busybox:lab", "--", "sleep", "1000")
    kubectl(node, "rollout", "status", "deployment/web", "--timeout=60s")
    assert "docker://" in kubectl(node, "get", "nodes", "-o", "wide")
    for program in (proxy, kubelet):
        program.stop()
    node.dockerd.stop()
