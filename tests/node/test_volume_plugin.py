"""A volume plugin of a third party, as `hyperkube plugins new volume` writes it: mounted in a pod of each runtime."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hyperkube_testing.lab import images
from hyperkube_testing.lab.requirements import CNI_PROGRAMS, missing_for_docker
from remote_runtime import needs_remote

from hyperkube.testing.waiting import eventually

HYPERKUBE = Path(sys.executable).with_name("hyperkube")
FOLDER = "/var/lib/hyperkube"
DOCKER_FLAGS = ("network-plugin=cni", f"cni-bin-dir={CNI_PROGRAMS}", f"pod-infra-container-image={images.PAUSE}")
MOTTO = "small is beautiful"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder of the import path that has the plugin and its metadata, as an installer leaves them."""
    made, folder = tmp_path_factory.mktemp("note") / "note-files", tmp_path_factory.mktemp("site")
    subprocess.run([HYPERKUBE, "plugins", "new", "volume", "note-files", "--folder", made], check=True)
    project = tomllib.loads((made / "pyproject.toml").read_text())["project"]
    shutil.copytree(made / "src", folder, dirs_exist_ok=True)
    metadata = folder / f"note_files-{project['version']}.dist-info"
    metadata.mkdir()
    requires = "".join(f"Requires-Dist: {line}\n" for line in project["dependencies"])
    head = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    (metadata / "METADATA").write_text(head + requires)
    groups = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in rows.items())])
        for group, rows in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(groups) + "\n")
    return folder


def reader(image):
    """Return a pod that has a volume of the plugin."""
    source = {"driver": "example.com/note-files", "options": {"motto": MOTTO}}
    mounts = [{"name": "notes", "mountPath": "/notes"}]
    container = {"name": "main", "image": image, "command": ["sleep", "1000"], "volumeMounts": mounts}
    spec = {"containers": [container], "volumes": [{"name": "notes", "flexVolume": source}]}
    spec["terminationGracePeriodSeconds"] = 1
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "reader"}, "spec": spec}


def node_of(lab, runtime):
    """Return a node for a runtime, and the flags of its cluster."""
    if runtime == "docker":
        if missing_for_docker():
            pytest.skip(missing_for_docker())
        return lab.docker_node("docker-notes"), [f"--kubelet-arg={flag}" for flag in DOCKER_FLAGS]
    if runtime == "remote":
        needs_remote()
    return lab.node(f"{runtime}-notes"), []


@pytest.mark.parametrize(
    ("runtime", "image"), [("process", "host"), ("remote", "busybox:lab"), ("docker", "busybox:lab")]
)
def test_a_third_partys_volume_is_mounted(hyperkube_lab, installed, runtime, image):
    node, flags = node_of(hyperkube_lab, runtime)
    low_disk = "--kubelet-arg=eviction-hard=nodefs.available<1%"
    up = node.start(
        HYPERKUBE, "up", f"--container-runtime={runtime}", f"--data-dir={FOLDER}", low_disk, *flags,
        env={"PYTHONPATH": str(installed)},
    )  # fmt: skip

    def running():
        assert up.running(), up.output()
        return "Local Kubernetes cluster is running" in up.output()

    eventually(running, 60, why="the cluster runs")
    env = {"KUBECONFIG": f"{FOLDER}/admin.kubeconfig"}
    try:
        node.run("kubectl", "apply", "-f", "-", env=env, stdin=json.dumps(reader(image)))
        node.run("kubectl", "wait", "pod/reader", "--for=condition=Ready", "--timeout=60s", env=env, seconds=90)
        look = ("kubectl", "exec", "reader", "--", "sh", "-c", "cat $HYPERKUBE_ROOT/notes/motto")
        uid = node.run("kubectl", "get", "pod", "reader", "-o", "jsonpath={.metadata.uid}", env=env).stdout

        assert node.run(*look, env=env).stdout == MOTTO
        node.run("kubectl", "delete", "pod", "reader", "--wait", env=env)
        eventually(lambda: not any(node.path(FOLDER).glob(f"**/pods/{uid}")), 30, why="its folder is gone")
    finally:
        up.stop()
        if runtime == "docker":
            node.dockerd.stop()
