"""What a kubelet writes: node, lease, statuses of pods, events; of the size that they have in a real cluster."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from typing import Any

IMAGES = 20
CPU, MEMORY, PODS = "4", "32Gi", "110"
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_MESSAGES = {
    "Pulled": 'Container image "registry.k8s.io/pause:3.10" already present on machine and can be accessed by the pod',
    "Created": "Container created",
    "Started": "Container started",
    "Killing": "Stopping container main",
}


def now() -> str:
    """Return the time as metav1.Time."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def micro_now() -> str:
    """Return the time as metav1.MicroTime."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def node(name: str, address: str) -> Any:
    """Return the Node to register."""
    resources = {"cpu": CPU, "memory": MEMORY, "pods": PODS, "ephemeral-storage": "100Gi"}
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    images = [
        {
            "names": [f"registry.example.com/team/service-{number}@sha256:{number:064x}"],
            "sizeBytes": 50_000_000 + number,
        }
        for number in range(IMAGES)
    ]
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {
            "name": name,
            "labels": {**labels, "beta.kubernetes.io/os": "linux", "beta.kubernetes.io/arch": "amd64"},
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": node_conditions(),
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": images,
            "nodeInfo": {
                "machineID": secrets.token_hex(16),
                "systemUUID": secrets.token_hex(16),
                "bootID": secrets.token_hex(16),
                "kernelVersion": "6.1.0-13-amd64",
                "osImage": "Debian GNU/Linux 12 (bookworm)",
                "containerRuntimeVersion": "hollow://1",
                "kubeletVersion": "v1.36.0",
                "kubeProxyVersion": "",
                "operatingSystem": "linux",
                "architecture": "amd64",
            },
        },
    }


def node_conditions() -> list[Any]:
    """Return the conditions of a healthy node."""
    moment = now()
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": moment,
            "lastTransitionTime": moment,
        }
        for kind, status, reason, message in _CONDITIONS
    ]


def lease(name: str, uid: str, seconds: int) -> Any:
    """Return a node's first lease."""
    return {
        "kind": "Lease",
        "apiVersion": "coordination.k8s.io/v1",
        "metadata": {
            "name": name,
            "namespace": "kube-node-lease",
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}],
        },
        "spec": {"holderIdentity": name, "leaseDurationSeconds": seconds, "renewTime": micro_now()},
    }


def token_request(pod: Any) -> Any:
    """Return the request for a pod's token."""
    meta = pod["metadata"]
    bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "spec": {"audiences": [], "expirationSeconds": 3607, "boundObjectRef": bound},
    }


def pod_address(node_address: str, number: int) -> str:
    """Return the address of a node's pod: unique for 250 pods at once."""
    _, second, third, _ = node_address.split(".")
    return f"10.{64 + int(second)}.{third}.{number % 250 + 2}"


def _conditions(ready: bool, *, sandbox: bool, ended: bool = False) -> list[Any]:
    moment = now()
    unready = (
        {"reason": "PodCompleted"}
        if ended
        else {"reason": "ContainersNotReady", "message": "containers with unready status: [main]"}
    )
    about = {"True": {}, "False": unready}
    states = {
        "PodReadyToStartContainers": "True" if sandbox else "False",
        "Initialized": "True",
        "Ready": "True" if ready else "False",
        "ContainersReady": "True" if ready else "False",
    }
    return [
        {
            "type": kind,
            "status": status,
            "lastProbeTime": None,
            "lastTransitionTime": moment,
            **(about[status] if kind.endswith("Ready") else {}),
        }
        for kind, status in states.items()
    ]


def _status(pod: Any, node_address: str, phase: str, state: Any, conditions: list[Any], *, ready: bool) -> Any:
    containers = [
        {
            "name": container["name"],
            "image": container["image"],
            "imageID": f"sha256:{'a' * 64}" if phase != "Pending" else "",
            "containerID": f"hollow://{pod['metadata']['uid'].replace('-', '')}" if phase != "Pending" else "",
            "restartCount": 0,
            "ready": ready,
            "started": ready,
            "lastState": {},
            "state": state,
        }
        for container in pod["spec"]["containers"]
    ]
    return {
        "phase": phase,
        "hostIP": node_address,
        "hostIPs": [{"ip": node_address}],
        "qosClass": (pod.get("status") or {}).get("qosClass", "Burstable"),
        "conditions": conditions,
        "containerStatuses": containers,
    }


def creating_status(pod: Any, node_address: str) -> Any:
    """Return the status while the containers are made."""
    state = {"waiting": {"reason": "ContainerCreating"}}
    made = _status(pod, node_address, "Pending", state, _conditions(ready=False, sandbox=False), ready=False)
    return {**made, "startTime": now()}


def running_status(pod: Any, node_address: str, pod_ip: str) -> Any:
    """Return the status of a pod whose container runs and is ready."""
    state = {"running": {"startedAt": now()}}
    made = _status(pod, node_address, "Running", state, _conditions(ready=True, sandbox=True), ready=True)
    return {**made, "podIP": pod_ip, "podIPs": [{"ip": pod_ip}]}


def ended_status(pod: Any, node_address: str, pod_ip: str, phase: str) -> Any:
    """Return the status of a pod whose container has ended."""
    state = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now(), "finishedAt": now()}}
    conditions = _conditions(ready=False, sandbox=False, ended=True)
    made = _status(pod, node_address, phase, state, conditions, ready=False)
    return {**made, "podIP": pod_ip, "podIPs": [{"ip": pod_ip}]} if pod_ip else made


def pod_event(pod: Any, reason: str, node_name: str) -> Any:
    """Return a kubelet's event about a pod."""
    meta, moment = pod["metadata"], now()
    return {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": {"name": f"{meta['name']}.{secrets.token_hex(8)}", "namespace": meta["namespace"]},
        "involvedObject": {
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
            "resourceVersion": meta["resourceVersion"],
            "fieldPath": "spec.containers{main}",
        },
        "reason": reason,
        "message": _MESSAGES[reason],
        "type": "Normal",
        "source": {"component": "kubelet", "host": node_name},
        "reportingComponent": "kubelet",
        "reportingInstance": node_name,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
    }
