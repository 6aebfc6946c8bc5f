"""What a simulation starts from: a cluster's objects from a file or a server, and pods from manifests.

Manifests have not been through the API, so that what scheduling needs of its defaults is filled in here: the
namespace, requests where only limits are given, and the priority that a class stands for.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson
from hyperkube_host.scheduler.simulation import KINDS
from hyperkube_lib.pod_templates import template_of

from hyperkube.client.client import Client
from hyperkube.kinds.pods import containers
from hyperkube.machinery.errors import ApiError, Forbidden, NotFound, UsageError
from hyperkube.machinery.objects import Object, copy_object, name_of, namespace_of

SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
NEEDED = ("Node", "Pod")
GZIP = b"\x1f\x8b"
REPLICATED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


def read_objects(path: Path) -> list[Object]:
    """Return the objects of a file: JSON or YAML, one or many, alone or in lists; it may be gzipped.

    Raises:
        UsageError: the file cannot be read, or holds something else.
    """
    try:
        data = path.read_bytes()
        text = gzip.decompress(data) if data.startswith(GZIP) else data
    except (OSError, EOFError) as error:
        raise UsageError(f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}") from error
    found = [obj for document in _documents(text, path) for obj in _flat(document, path)]
    if not found:
        raise UsageError(f"{path}: there are no objects")
    return found


def read_cluster(client: Client) -> tuple[list[Object], list[str]]:
    """Return a server's objects that scheduling looks at, and the kinds that may not be read.

    Raises:
        UsageError: its nodes or pods may not be read, or it cannot be reached.
    """
    found: list[Object] = []
    refused: list[str] = []
    for kind, resource in KINDS.items():
        try:
            found += [{**obj, "kind": kind} for obj in client.list(resource).items]
        except NotFound:
            continue  # an older server: it has no such objects
        except Forbidden as error:
            if kind in NEEDED:
                raise UsageError(str(error)) from error
            refused.append(kind)
        except (ApiError, OSError) as error:
            raise UsageError(f"cannot read {resource.resource}: {error}") from error
    return found, refused


def pods_of(objects: Iterable[Object], cluster: Iterable[Object], path: Path) -> list[Object]:
    """Return the pods that manifests ask for; a workload stands for as many as it has replicas.

    Raises:
        UsageError: an object that makes no pods, or a priority class that the cluster does not have.
    """
    priorities = _priorities(cluster)
    return [_completed(pod, priorities, path) for obj in objects for pod in _ask_filters(obj, path)]


def options_of(config: Path | None, provider: str) -> dict[str, Any]:
    """Return the scheduler's flags for a configuration: a KubeSchedulerConfiguration, or a Policy.

    Raises:
        UsageError: the file cannot be read.
    """
    options: dict[str, Any] = {"algorithm-provider": provider} if provider else {}
    if config is None:
        return options
    kinds = {str(obj.get("kind", "")) for obj in read_objects(config)}
    return {**options, "policy-config-file" if kinds == {"Policy"} else "config": str(config)}


def _documents(text: bytes, path: Path) -> Iterator[Any]:
    from hyperkube.machinery.codecs.yaml import YamlError, loads

    try:
        yield orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            for part in re.split(rb"^---[ \t]*$", text, flags=re.MULTILINE):
                document, _ = loads(part)
                if document is not None:
                    yield document
        except YamlError as error:
            raise UsageError(f"{path}: neither JSON nor YAML: {error}") from error


def _flat(document: Any, path: Path) -> Iterator[Object]:
    rows = document if isinstance(document, list) else [document]
    for row in rows:
        if not isinstance(row, dict) or not row.get("kind"):
            raise UsageError(f"{path}: an object has no kind")
        kind = str(row["kind"])
        if kind.endswith("List") and isinstance(row.get("items"), list):
            for item in row["items"]:
                yield {"kind": kind.removesuffix("List"), **item}
        else:
            yield row


def _ask_filters(obj: Object, path: Path) -> Iterator[Object]:
    kind, spec = str(obj["kind"]), obj.get("spec") or {}
    if kind == "Pod":
        yield obj
        return
    template = template_of(obj)
    if template is None or kind in {"DaemonSet", "CronJob", "PodTemplate"}:
        raise UsageError(f"{path}: a {kind} cannot be simulated: give Pods, {', '.join(REPLICATED)} or Jobs")
    wanted = (
        spec.get("replicas", 1) if kind in REPLICATED else min(spec.get("parallelism", 1), spec.get("completions", 1))
    )
    owner = {"kind": kind, "name": name_of(obj), "uid": f"simulated-{name_of(obj)}", "controller": True}
    for index in range(int(wanted)):
        metadata = {**(template.get("metadata") or {}), "name": f"{name_of(obj)}-{index}", "ownerReferences": [owner]}
        yield {
            "metadata": {**metadata, "namespace": namespace_of(obj) or "default"},
            "spec": template.get("spec") or {},
        }


def _completed(pod: Object, priorities: Mapping[str, Object], path: Path) -> Object:
    made = copy_object({"apiVersion": "v1", **pod, "kind": "Pod", "status": {"phase": "Pending"}})
    made["metadata"] = {"namespace": "default", **(made.get("metadata") or {})}
    if not made["metadata"].get("name"):
        raise UsageError(f"{path}: a Pod has no name")
    spec = made.setdefault("spec", {})
    spec.pop("nodeName", None)
    for container in containers(made):
        resources = container.get("resources") or {}
        container["resources"] = {
            **resources,
            "requests": {**resources.get("limits", {}), **resources.get("requests", {})},
        }
    chosen = spec.get("priorityClassName", "")
    if chosen and chosen not in priorities:
        raise UsageError(f"{path}: Pod {made['metadata']['name']!r}: the cluster has no PriorityClass {chosen!r}")
    if "priority" not in spec and (chosen or "" in priorities):
        spec["priority"] = int(priorities[chosen]["value"])
        spec.setdefault("preemptionPolicy", priorities[chosen].get("preemptionPolicy", "PreemptLowerPriority"))
    return made


def _priorities(cluster: Iterable[Object]) -> dict[str, Object]:
    """Return the priority classes by name; the default one by the empty name too."""
    found: dict[str, Object] = {name: {"value": value} for name, value in SYSTEM_PRIORITIES.items()}
    for obj in cluster:
        if obj.get("kind") == "PriorityClass":
            found[name_of(obj)] = obj
            if obj.get("globalDefault"):
                found[""] = obj
    return found
