"""What volumes cost a kubelet: to mount them, to do nothing, and to follow thousands of ConfigMaps.

Run by hand: ``.venv/bin/python tests/perf/bench_volumes.py`` (``--only mount``, ``watch``, ``shared``). An API server of its own
process answers; the kubelet's volume manager with the real kinds runs in a second one, whose processor time and memory are told.

- mount: 100 pods, each with a secret, a projected volume (token, ConfigMap, downward API) and a claim of a CSI driver in memory,
  whose calls cost nothing; then ten seconds in which nothing changes; then all are torn down.
- watch: 500 pods with ten ConfigMaps each, 5,000 in all, each followed by a watch of its own over TLS.
- shared: the same in a process with the API server, as `hyperkube up` runs its kubelet.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hyperkube_host.apiserver.server import ApiServer
from hyperkube_host.kubelet.clustertrustbundle.cluster_trust_bundle_manager import NoTrustAnchors
from hyperkube_host.kubelet.directories import KubeletDirectories
from hyperkube_host.kubelet.objects.change_detection import WATCH
from hyperkube_host.kubelet.objects.object_cache import ObjectCache
from hyperkube_host.kubelet.objects.token_manager import TokenManager
from hyperkube_host.kubelet.podcertificate.pod_certificate_manager import NoPodCertificates
from hyperkube_host.kubelet.volumemanager.actual_state import ActualStateOfWorld
from hyperkube_host.kubelet.volumemanager.attachment import Attachments
from hyperkube_host.kubelet.volumemanager.mount_labels import MountLabels
from hyperkube_host.kubelet.volumemanager.mount_volume import VolumeMounter
from hyperkube_host.kubelet.volumemanager.node_expansion import NodeExpansion
from hyperkube_host.kubelet.volumemanager.pod_volumes import PodVolumes
from hyperkube_host.kubelet.volumemanager.reconstruction import Reconstruction
from hyperkube_host.kubelet.volumemanager.selinux import SELinux
from hyperkube_host.kubelet.volumemanager.sub_paths import SubPathMounts
from hyperkube_host.kubelet.volumemanager.volume_manager import VolumeManager
from hyperkube_lib.csi import MemoryDriver
from hyperkube_testing.peers.ports import free_port
from hyperkube_volume.csi.csi import CsiVolumes
from hyperkube_volume.projected import ProjectedFolders
from hyperkube_volume.secret import SecretFolders
from servers_under_load import TOKEN, Served, api_server, own_cpu, pace, running

from hyperkube.client.client import Client
from hyperkube.client.http import HttpClient
from hyperkube.client.request_counts import RequestCounts
from hyperkube.kinds.resources import (
    CONFIG_MAPS,
    CSI_DRIVERS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SECRETS,
    SERVICE_ACCOUNTS,
)
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.objects import Object
from hyperkube.machinery.users import LOOPBACK
from hyperkube.storage.memory import MemoryStore

NAMESPACE, NODE, DRIVER = "perf", "n1", "memory.csi.example.com"
MOUNTING_PODS, REST_SECONDS = 100, 10.0
WATCHING_PODS, MAPS_PER_POD, MOST_MIB = 500, 10, 60.0


class Counts(RequestCounts):
    """Counts the requests of a client."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def count(self, code: str, method: str, host: str) -> None:
        """Count one."""
        super().count(code, method, host)
        self.total += 1


def meta(name: str, **more: Any) -> Object:
    return {"name": name, "namespace": NAMESPACE, **more}


def mounting_pod(index: int) -> Object:
    """Return a pod with three volumes."""
    projected = [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": f"c{index}"}},
        {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
    ]
    volumes = [
        {"name": "secret", "secret": {"secretName": f"s{index}", "defaultMode": 0o644}},
        {"name": "projected", "projected": {"sources": projected, "defaultMode": 0o644}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": f"d{index}"}},
    ]
    mounts = [{"name": volume["name"], "mountPath": f"/{volume['name']}"} for volume in volumes]
    container = {"name": "c", "image": "i", "volumeMounts": mounts}
    spec = {"nodeName": NODE, "automountServiceAccountToken": False, "containers": [container], "volumes": volumes}
    return {"kind": "Pod", "apiVersion": "v1", "metadata": meta(f"p{index}"), "spec": spec}


def populate(client: Client) -> list[Object]:
    """Make what the pods with three volumes need, and them; return the pods."""
    client.create(NODES, {"metadata": {"name": NODE}})
    client.create(SERVICE_ACCOUNTS, {"metadata": meta("default")}, NAMESPACE)
    client.create(CSI_DRIVERS, {"metadata": {"name": DRIVER}, "spec": {"attachRequired": False}})
    pods = []
    for index in range(MOUNTING_PODS):
        client.create(SECRETS, {"metadata": meta(f"s{index}"), "stringData": {"key": "x" * 100}}, NAMESPACE)
        client.create(CONFIG_MAPS, {"metadata": meta(f"c{index}"), "data": {"key": "x" * 100}}, NAMESPACE)
        size, modes = {"storage": "1Mi"}, ["ReadWriteOnce"]
        wanted = {
            "accessModes": modes,
            "resources": {"requests": size},
            "volumeName": f"v{index}",
            "storageClassName": "",
        }
        claim = client.create(PERSISTENT_VOLUME_CLAIMS, {"metadata": meta(f"d{index}"), "spec": wanted}, NAMESPACE)
        source = {"driver": DRIVER, "volumeHandle": f"h{index}"}
        reference = {"namespace": NAMESPACE, "name": f"d{index}", "uid": claim["metadata"]["uid"]}
        volume = {"capacity": size, "accessModes": modes, "csi": source, "claimRef": reference}
        client.create(PERSISTENT_VOLUMES, {"metadata": {"name": f"v{index}"}, "spec": volume})
        bound = {"status": {"phase": "Bound", "accessModes": modes, "capacity": size}}
        client.patch(PERSISTENT_VOLUME_CLAIMS, f"d{index}", bound, NAMESPACE, subresource="status")
        pods.append(client.create(PODS, mounting_pod(index), NAMESPACE))
    return pods


def volume_manager(client: Client, folder: Path, objects: ObjectCache) -> VolumeManager:
    """Return a kubelet's volume manager with three kinds."""
    clock, state, directories = SystemClock(), ActualStateOfWorld(), KubeletDirectories(folder)
    driver = MemoryDriver()
    driver.volumes.update({f"h{index}": 1 << 20 for index in range(MOUNTING_PODS)})
    csi = CsiVolumes(client, clock, lambda _endpoint: driver)
    csi.register_driver(DRIVER, "/socket", ["1.0.0"], NODE)
    kinds = [
        ("kubernetes.io/secret", SecretFolders()),
        ("kubernetes.io/projected", ProjectedFolders()),
        ("kubernetes.io/csi", csi),
    ]
    node = client.get(NODES, NODE)
    volumes, sub_paths = PodVolumes(kinds, objects), SubPathMounts(directories, state, needs_mounts=False)
    labels = MountLabels(SELinux(), all_modes=False)
    mounter = VolumeMounter(
        directories, state, objects, TokenManager(client, clock), lambda: node,
        Attachments(client, by_controller=True), None, sub_paths, NoPodCertificates(), NoTrustAnchors(), labels,
    )  # fmt: skip
    return VolumeManager(
        volumes, state, mounter, Reconstruction(directories, volumes, mounter, sub_paths),
        NodeExpansion(client, objects, mounter, None, NODE), labels, clock,
        requeue=lambda _uid: None, in_use_changed=lambda: None,
    )  # fmt: skip


def measure_mounts(client: Client, counts: Counts) -> dict[str, float]:
    """Mount the volumes of all pods, one after the other; rest; tear them down."""
    pods, found = populate(client), {}
    objects = ObjectCache(client, SystemClock(), None, WATCH)
    with tempfile.TemporaryDirectory() as folder:
        manager = volume_manager(client, Path(folder), objects)
        asked = counts.total

        def each(step: Callable[[Object], object]) -> tuple[float, float]:
            cpu, begun = own_cpu(), time.monotonic()
            for pod in pods:
                step(pod)
            return (time.monotonic() - begun) / len(pods) * 1e3, (own_cpu() - cpu) / len(pods) * 1e3

        def mount(pod: Object) -> None:
            objects.register(pod)
            assert len(manager.setup(pod)) == 3

        found["mount, ms a pod"], found["mount, CPU ms a pod"] = each(mount)
        found["requests a pod"] = (counts.total - asked) / len(pods)
        found["sync again, ms a pod"], found["sync again, CPU ms a pod"] = each(manager.setup)
        asked, cpu = counts.total, own_cpu()
        time.sleep(REST_SECONDS)
        found["requests at rest"], found["CPU at rest, ms a second"] = (
            counts.total - asked,
            (own_cpu() - cpu) / REST_SECONDS * 1e3,
        )

        def unmount(pod: Object) -> None:
            assert manager.teardown(pod)
            objects.unregister(pod["metadata"]["uid"])

        found["tear down, ms a pod"], found["tear down, CPU ms a pod"] = each(unmount)
        manager.close()
    return found


def make_maps(client: Client) -> None:
    """Make the ConfigMaps, from several threads."""
    names = iter(range(WATCHING_PODS * MAPS_PER_POD))
    lock = threading.Lock()

    def some() -> None:
        while True:
            with lock:
                index = next(names, None)
            if index is None:
                return
            client.create(CONFIG_MAPS, {"metadata": meta(f"m{index}"), "data": {"key": "x" * 200}}, NAMESPACE)

    threads = [threading.Thread(target=some) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def watching_pod(index: int) -> Object:
    """Return a pod that mounts ten ConfigMaps of its own."""
    names = [f"m{index * MAPS_PER_POD + number}" for number in range(MAPS_PER_POD)]
    volumes = [{"name": name, "configMap": {"name": name}} for name in names]
    return {"metadata": meta(f"w{index}", uid=f"w{index}"), "spec": {"containers": [], "volumes": volumes}}


def resident() -> float:
    """Return MiB of this process' own memory: resident, of no file."""
    rows = Path("/proc/self/status").read_text().splitlines()
    return int(next(row for row in rows if row.startswith("RssAnon")).split()[1]) / 1024


def measure_watches(client: Client, counts: Counts) -> dict[str, float]:
    """Follow the ConfigMaps of all pods, then rest."""
    make_maps(client)
    pods = [watching_pod(index) for index in range(WATCHING_PODS)]
    objects = ObjectCache(client, SystemClock(), None, WATCH)
    gc.collect()
    before, cpu, begun = resident(), own_cpu(), time.monotonic()
    for pod in pods:
        objects.register(pod)
        for volume in pod["spec"]["volumes"]:
            objects.config_map(NAMESPACE, volume["name"])
    found = {"followed after, s": time.monotonic() - begun, "CPU for that, s": own_cpu() - cpu}
    time.sleep(2)
    gc.collect()
    found["MiB"], found["threads"] = resident() - before, threading.active_count()
    asked, cpu, begun = counts.total, own_cpu(), time.monotonic()
    time.sleep(REST_SECONDS)
    found["requests at rest"] = counts.total - asked
    found["CPU at rest, ms a second"] = (own_cpu() - cpu) / REST_SECONDS * 1e3
    client.patch(CONFIG_MAPS, "m7", {"data": {"key": "new"}}, NAMESPACE)
    begun = time.monotonic()
    while objects.config_map(NAMESPACE, "m7")["data"]["key"] != "new":
        time.sleep(0.001)
    found["a change is seen after, ms"] = (time.monotonic() - begun) * 1e3
    return found


@contextmanager
def served(folder: Path) -> Iterator[Served]:
    """Run an API server of its own process."""
    port = free_port()
    with running(api_server(folder, port), port, "/readyz") as server:
        yield server


def child(part: str, server: str) -> None:
    """Measure one part in this process; print the figures as JSON."""
    counts = Counts()
    if server:
        client: Client = HttpClient(server, token=TOKEN, insecure=True, counts=counts)
        client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
        print(json.dumps({"mount": measure_mounts, "watch": measure_watches}[part](client, counts)))
        return
    made = ApiServer(
        options={"admission-control": ["AlwaysAdmit"], "authorization-mode": ["AlwaysAllow"]}, store=MemoryStore()
    )
    made.start()
    made.informers.wait_synced(30)
    client = made.client(LOOPBACK)
    client.create(NAMESPACES, {"metadata": {"name": NAMESPACE}})
    print(json.dumps(measure_watches(client, counts)))
    made.close()


def run(part: str) -> dict[str, float]:
    """Measure one part in a process of its own."""
    command = [sys.executable, __file__, "--child", part]
    with tempfile.TemporaryDirectory() as folder:
        if part == "shared":
            return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])
        with served(Path(folder)) as server:
            command += ["--server", f"https://127.0.0.1:{server.port}"]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.splitlines()[-1])
            found["the server's MiB"] = server.memory()[0]
            return found


def main() -> int:
    """Print the figures; return 1 when the watches cost too much memory."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", choices=("mount", "watch", "shared"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--server", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.server)
        return 0
    missed = False
    print(f"pace: {pace():.2f} s of CPU, load {os.getloadavg()[0]:.1f}")
    for part in ("mount", "watch", "shared"):
        if given.only in (None, part):
            found = run(part)
            print(part)
            for name, figure in found.items():
                print(f"  {name:28} {figure:10.2f}")
            missed |= found.get("MiB", 0.0) > MOST_MIB
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
