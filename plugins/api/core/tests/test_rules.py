"""The rules of core/v1, one by one: what is written in ``rules/`` is refused in the words that stand below it.

A case is a line ``Kind fragment``, or ``Kind before -> after`` for an update, and below it, indented, what is said, up
to the form that a name must have or a difference. Fragments are JSON, and are laid over a sound object; those of pods
are specifications.
"""

import importlib.util
import json
from copy import deepcopy
from pathlib import Path

import pytest
from hyperkube_api.core.config_maps.strategy import ConfigMapStrategy
from hyperkube_api.core.endpoints.strategy import EndpointsStrategy
from hyperkube_api.core.limit_ranges.strategy import LimitRangeStrategy
from hyperkube_api.core.namespaces.strategy import NamespaceFinalizeStrategy, NamespaceStrategy
from hyperkube_api.core.nodes.strategy import NodeStrategy
from hyperkube_api.core.persistent_volume_claims.strategy import PersistentVolumeClaimStrategy
from hyperkube_api.core.persistent_volumes.strategy import PersistentVolumeStrategy
from hyperkube_api.core.pod_templates.strategy import PodTemplateStrategy
from hyperkube_api.core.pods.strategy import EphemeralContainersStrategy, PodStrategy, ResizeStrategy
from hyperkube_api.core.replication_controllers.strategy import ReplicationControllerStrategy
from hyperkube_api.core.resource_quotas.strategy import ResourceQuotaStrategy
from hyperkube_api.core.secrets.strategy import SecretStrategy
from hyperkube_api.core.services.strategy import ServiceStrategy

_spec = importlib.util.spec_from_file_location("calls", Path(__file__).with_name("calls.py"))
calls = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(calls)

POD = {"spec": {"containers": [{"name": "c", "image": "i"}], "serviceAccountName": "default"}, "status": {}}
SERVICE = {"spec": {"ports": [{"port": 1}]}, "status": {}}
VOLUME = {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}, "status": {}}
CLAIM = {
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    "status": {"phase": "Pending"},
}
EMPTY = {"spec": {}, "status": {}}


def a_service_strategy():
    """Make a strategy whose addresses are not asked for."""
    return ServiceStrategy(None)


KINDS = {
    "ConfigMap": (ConfigMapStrategy, {}),
    "Endpoints": (EndpointsStrategy, {}),
    "Finalize": (NamespaceFinalizeStrategy, EMPTY),
    "LimitRange": (LimitRangeStrategy, EMPTY),
    "Namespace": (NamespaceStrategy, EMPTY),
    "Node": (NodeStrategy, EMPTY),
    "PersistentVolume": (PersistentVolumeStrategy, VOLUME),
    "PersistentVolumeClaim": (PersistentVolumeClaimStrategy, CLAIM),
    "PodTemplate": (PodTemplateStrategy, {}),
    "ReplicationController": (ReplicationControllerStrategy, EMPTY),
    "ResourceQuota": (ResourceQuotaStrategy, EMPTY),
    "Secret": (SecretStrategy, {}),
    "Service": (a_service_strategy, SERVICE),
    "Pod": (PodStrategy, POD),
    "Ephemeral": (EphemeralContainersStrategy, POD),
    "Resize": (ResizeStrategy, POD),
}


def made(kind, fragment):
    """Lay a fragment over a sound object of its kind."""
    strategy, base = KINDS[kind]
    obj = deepcopy(base)
    metadata = {"name": "x", "namespace": "ns", "uid": "u", "resourceVersion": "1"}
    obj["metadata"] = {**metadata, **obj.get("metadata", {}), **fragment.pop("metadata", {})}
    if base is POD and not fragment.keys() & {"spec", "status"}:
        fragment = {"spec": fragment}
    for member, value in fragment.items():
        obj[member] = {**obj.get(member, {}), **value} if isinstance(value, dict) else value
    strategy().default(obj)
    return obj


def said(kind, case):
    """Return what is said about a case."""
    status, kind = kind.endswith("Status"), kind.removesuffix("Status")
    strategy, call = KINDS[kind][0](), calls.a_call()
    fragments = [made(kind, json.loads(fragment)) for fragment in case.split(" -> ")]
    if len(fragments) == 1:
        errors = strategy.validate(call, fragments[0])
    else:
        old, new = fragments
        if status:
            errors = strategy.validate_status_update(call, new, old)
        else:
            if kind != "Service":
                strategy.prepare_update(call, new, old)
            errors = strategy.validate_update(call, new, old)
    return [str(error).partition("\n")[0].partition(" must consist of ")[0] for error in errors]


def cases():
    """Read every case."""
    found = []
    for file in sorted(Path(__file__).with_name("rules").glob("*.txt")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            if line.startswith("    "):
                found[-1].values[2].append(line.strip())
            elif line and not line.startswith("#"):
                kind, _, case = line.partition(" ")
                found.append(pytest.param(kind, case, [], id=f"{file.stem}:{number}"))
    return found


@pytest.mark.parametrize(("kind", "case", "expected"), cases())
def test_what_is_refused_and_in_which_words(kind, case, expected):
    assert said(kind, case) == expected
