"""What a manifest must look like to be a pod: no API server has read it, and everything below trusts what it says.

Fields that are not named here are left as they are: nothing in the kubelet reads them before a plugin does.

Sources: kubernetes ``staging/src/k8s.io/api/core/v1/types.go``, ``pkg/apis/core/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

from hyperkube.kinds.pods import containers
from hyperkube.machinery import quantity
from hyperkube.machinery.names import dns1123_label, dns1123_subdomain, path_segment_name
from hyperkube.machinery.objects import Object

RESTART_POLICIES = ("Always", "OnFailure", "Never")
_ANY = "*"
"""A key that stands for all keys of a map."""


def _amount(value: Any) -> str:
    if type(value) not in {str, int, float}:
        return "a quantity"
    try:
        quantity.parse(str(value))
    except quantity.QuantityError:
        return "a quantity"
    return ""


def _port(value: Any) -> str:
    return "" if type(value) in {int, str} else "a number or a name"


def _grace(value: Any) -> str:
    return "" if type(value) is int and value >= 0 else "a whole number, 0 or more"


def _restart_policy(value: Any) -> str:
    return "" if value in RESTART_POLICIES else f"one of {', '.join(RESTART_POLICIES)}"


_TEXTS = {_ANY: str}
_EXPRESSIONS = [{"key": str, "operator": str, "values": [str]}]
_SELECTOR_TERM = {"matchExpressions": _EXPRESSIONS, "matchFields": _EXPRESSIONS}
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_SELECTOR_TERM]},
    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": int, "preference": _SELECTOR_TERM}],
}
_HTTP = {"path": str, "port": _port, "host": str, "scheme": str, "httpHeaders": [{"name": str, "value": str}]}
_HANDLER = {
    "exec": {"command": [str]},
    "httpGet": _HTTP,
    "tcpSocket": {"port": _port, "host": str},
    "grpc": {"port": int, "service": str},
    "sleep": {"seconds": int},
}
_SECONDS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_PROBE = {**_HANDLER, **dict.fromkeys(_SECONDS, int), "terminationGracePeriodSeconds": _grace}
_REFERENCE = {"name": str, "key": str, "optional": bool}
_ENV = {
    "name": str,
    "value": str,
    "valueFrom": {
        "configMapKeyRef": _REFERENCE,
        "secretKeyRef": _REFERENCE,
        "fieldRef": {"fieldPath": str, "apiVersion": str},
        "resourceFieldRef": {"containerName": str, "resource": str, "divisor": _amount},
        "fileKeyRef": {"volumeName": str, "path": str, "key": str, "optional": bool},
    },
}
_RESOURCES = {"limits": {_ANY: _amount}, "requests": {_ANY: _amount}, "claims": [{"name": str, "request": str}]}
_USERS = {"runAsUser": int, "runAsGroup": int, "runAsNonRoot": bool}
_SECURITY = {
    **_USERS,
    "privileged": bool,
    "allowPrivilegeEscalation": bool,
    "readOnlyRootFilesystem": bool,
    "procMount": str,
    "capabilities": {"add": [str], "drop": [str]},
    "seccompProfile": {"type": str, "localhostProfile": str},
    "appArmorProfile": {"type": str, "localhostProfile": str},
    "seLinuxOptions": _TEXTS,
}
_CONTAINER = {
    "name": str,
    "image": str,
    "imagePullPolicy": str,
    "command": [str],
    "args": [str],
    "workingDir": str,
    "ports": [{"name": str, "containerPort": int, "hostPort": int, "hostIP": str, "protocol": str}],
    "env": [_ENV],
    "envFrom": [{"prefix": str, "configMapRef": _REFERENCE, "secretRef": _REFERENCE}],
    "resources": _RESOURCES,
    "resizePolicy": [{"resourceName": str, "restartPolicy": str}],
    "restartPolicy": str,
    "restartPolicyRules": [{"action": str, "exitCodes": {"operator": str, "values": [int]}}],
    "volumeMounts": [{"name": str, "mountPath": str, "subPath": str, "subPathExpr": str, "readOnly": bool}],
    "volumeDevices": [{"name": str, "devicePath": str}],
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "lifecycle": {"postStart": _HANDLER, "preStop": _HANDLER, "stopSignal": str},
    "terminationMessagePath": str,
    "terminationMessagePolicy": str,
    "securityContext": _SECURITY,
    "stdin": bool,
    "stdinOnce": bool,
    "tty": bool,
}
_POD_SECURITY = {
    **_USERS,
    "fsGroup": int,
    "fsGroupChangePolicy": str,
    "supplementalGroups": [int],
    "supplementalGroupsPolicy": str,
    "sysctls": [{"name": str, "value": str}],
    "seccompProfile": _SECURITY["seccompProfile"],
    "appArmorProfile": _SECURITY["appArmorProfile"],
    "seLinuxOptions": _TEXTS,
}
_TOLERATION = {"key": str, "operator": str, "value": str, "effect": str, "tolerationSeconds": int}
_FLAGS = ("hostNetwork", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace", "enableServiceLinks")
_NAMES = ("hostname", "subdomain", "dnsPolicy", "serviceAccountName", "runtimeClassName", "priorityClassName")
_SPEC = {
    **dict.fromkeys(_FLAGS, bool),
    **dict.fromkeys(_NAMES, str),
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "volumes": [{"name": str, _ANY: {}}],
    "restartPolicy": _restart_policy,
    "terminationGracePeriodSeconds": _grace,
    "activeDeadlineSeconds": int,
    "priority": int,
    "nodeSelector": _TEXTS,
    "affinity": {"nodeAffinity": _NODE_AFFINITY, _ANY: {}},
    "tolerations": [_TOLERATION],
    "securityContext": _POD_SECURITY,
    "resources": _RESOURCES,
    "overhead": {_ANY: _amount},
    "imagePullSecrets": [{"name": str}],
    "hostAliases": [{"ip": str, "hostnames": [str]}],
    "dnsConfig": {"nameservers": [str], "searches": [str], "options": [{"name": str, "value": str}]},
    "os": {"name": str},
}
_METADATA = {"name": str, "namespace": str, "uid": str, "labels": _TEXTS, "annotations": _TEXTS}
_WORDS = {str: "a text", int: "a whole number", bool: "true or false"}


def read_manifest(manifest: Object) -> tuple[Object, Object]:
    """Return the metadata and the spec of a pod, without what is null; both may be changed.

    Raises:
        ValueError: it is no pod; the text names the field.
    """
    meta = _read(manifest.get("metadata"), _METADATA, "metadata")
    spec = _read(manifest.get("spec"), _SPEC, "spec")
    problem = next(chain(_bad_names(meta, spec), _bad_mounts(spec), _bad_volumes(spec)), "")
    if problem:
        raise ValueError(problem)
    for volume in spec.get("volumes") or ():
        if volume.keys() == {"name"}:
            volume["emptyDir"] = {}  # the default of the API
    return meta, spec


def _read(value: Any, shape: Any, place: str) -> Any:
    """Return a copy of a value that has a shape, without nulls.

    Raises:
        ValueError: it has another.
    """
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise _invalid(place, value, "a table")
        return {
            name: member
            if (found := shape.get(name, shape.get(_ANY))) is None
            else _read(member, found, f"{place}.{name}")
            for name, member in value.items()
            if member is not None
        }
    if isinstance(shape, list):
        if not isinstance(value, list):
            raise _invalid(place, value, "a list")
        return [_read(entry, shape[0], f"{place}[{index}]") for index, entry in enumerate(value)]
    if isinstance(shape, type):
        if type(value) is not shape:
            raise _invalid(place, value, _WORDS[shape])
        return value
    problem = shape(value)
    if problem:
        raise _invalid(place, value, problem)
    return value


def _invalid(place: str, value: Any, wanted: str) -> ValueError:
    return ValueError(f"{place}: Invalid value: {value!r:.100}: must be {wanted}")


def _bad_names(meta: Object, spec: Object) -> Iterator[str]:
    """Yield what is wrong with names: folders and files are named after them."""
    if not spec.get("containers"):
        yield "spec.containers: Required value"
    named: list[tuple[str, object, Callable[[str], list[str]]]] = [
        ("metadata.name", meta.get("name"), dns1123_subdomain),
        ("metadata.namespace", meta.get("namespace", "default"), dns1123_label),
        ("metadata.uid", meta.get("uid", ""), path_segment_name),
    ]
    for field, entries in (("containers", containers({"spec": spec})), ("volumes", spec.get("volumes") or ())):
        taken: set[object] = set()
        for index, entry in enumerate(entries):
            name, place = entry.get("name"), f"spec.{field}[{index}].name"
            named.append((place, name, dns1123_label))
            if name in taken:
                yield f"{place}: Duplicate value: {name!r}"
            taken.add(name)
    for place, found, check in named:
        problems = check(found) if isinstance(found, str) else ["Required value"]
        if problems:
            yield f"{place}: Invalid value: {found!r}: {problems[0]}"


def _bad_mounts(spec: Object) -> Iterator[str]:
    known = {volume.get("name") for volume in spec.get("volumes") or ()}
    for container in containers({"spec": spec}):
        for field in ("volumeMounts", "volumeDevices"):
            for index, mount in enumerate(container.get(field) or ()):
                if mount.get("name") not in known:
                    yield f"container {container['name']!r}: {field}[{index}].name: Not found: {mount.get('name')!r}"


def _bad_volumes(spec: Object) -> Iterator[str]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        if len(volume.keys() - {"name"}) > 1:
            yield f"spec.volumes[{index}]: Forbidden: may not specify more than 1 volume type"
