"""Containers of every sort.

Source: kubernetes pkg/apis/core/validation (validateContainers and around).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperkube_api.core.validation.amounts import requirements
from hyperkube_api.core.validation.environment import validate_env, validate_env_from
from hyperkube_api.core.validation.probes import (
    validate_lifecycle,
    validate_readiness_probe,
    validate_restarting_probe,
)
from hyperkube_api.core.validation.security import validate_container_security
from hyperkube_api.core.validation.volumes import PULL_POLICIES, no_backsteps, relative_path
from hyperkube_api.meta.validation import by_rule, named

from hyperkube.machinery import names
from hyperkube.machinery.field import (
    FieldError,
    Path,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_many,
)
from hyperkube.machinery.objects import Object

PROTOCOLS = ("SCTP", "TCP", "UDP")
MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_EPHEMERAL_FORBIDDEN = (
    "ports", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "resources", "resizePolicy",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What the checks of a container need to know about its pod."""

    volumes: dict[str, Object] = field(default_factory=dict)
    claims: frozenset[str] = frozenset()
    grace: int = 30
    os: Object | None = None
    restart_policy: str = "Always"
    host_network: bool = False
    host_users: bool = True
    privileged: bool = True
    in_pod: bool = True
    """Whether this is a pod, not a template."""


def validate_containers(path: Path, containers: Sequence[Object] | None, facts: PodFacts) -> list[FieldError]:
    """Check the containers that make up a pod."""
    if not containers:
        return [required(path)]
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        at = path.index(index)
        errors += _common(at, container, facts)
        name = container.get("name") or ""
        if name and name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        errors += _long_running(at, container, facts)
    return errors + _host_port_conflicts(path, containers)


def validate_init_containers(
    path: Path, containers: Sequence[Object] | None, regular: Sequence[Object], facts: PodFacts
) -> list[FieldError]:
    """Check the containers that run before the others, or beside them as sidecars."""
    errors: list[FieldError] = []
    seen = {container.get("name") for container in regular}
    for index, container in enumerate(containers or ()):
        at = path.index(index)
        errors += _common(at, container, facts)
        name = container.get("name") or ""
        if name and name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        errors += _host_port_conflicts(path, [container])
        if container.get("restartPolicy") == "Always":
            errors += _long_running(at, container, facts)
            continue
        for member in ("lifecycle", "livenessProbe", "readinessProbe", "startupProbe"):
            if container.get(member) is not None:
                text = "may not be set for init containers without restartPolicy=Always"
                errors.append(forbidden(at.child(member), text))
    return errors


def validate_ephemeral_containers(
    path: Path, containers: Sequence[Object] | None, others: Sequence[Object], facts: PodFacts
) -> list[FieldError]:
    """Check the containers that were added to debug."""
    errors: list[FieldError] = []
    known = {container.get("name") for container in others}
    seen = set(known)
    for index, container in enumerate(containers or ()):
        at = path.index(index)
        errors += _common(at, container, facts)
        name = container.get("name") or ""
        if name and name in seen:
            errors.append(duplicate(at.child("name"), name))
        seen.add(name)
        target = container.get("targetContainerName")
        if target and target not in known:
            errors.append(not_found(at.child("targetContainerName"), target))
        errors += _not_for_ephemeral(at, container)
    return errors


def _not_for_ephemeral(at: Path, container: Object) -> list[FieldError]:
    text = "cannot be set for an Ephemeral Container"
    errors = [
        forbidden(at.child(member), text)
        for member in _EPHEMERAL_FORBIDDEN
        if container.get(member) not in (None, {}, [])
    ]
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        where = at.child("volumeMounts").index(index)
        errors += [forbidden(where.child(member), text) for member in ("subPath", "subPathExpr") if mount.get(member)]
    return errors


def _long_running(at: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    """Check what only containers have that stay: hooks and probes."""
    errors = validate_lifecycle(at.child("lifecycle"), container.get("lifecycle"), facts.grace, facts.os)
    errors += validate_restarting_probe(at.child("livenessProbe"), container.get("livenessProbe"), facts.grace)
    errors += validate_readiness_probe(at.child("readinessProbe"), container.get("readinessProbe"), facts.grace)
    return errors + validate_restarting_probe(at.child("startupProbe"), container.get("startupProbe"), facts.grace)


def _common(at: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    errors = named(at.child("name"), container.get("name"), names.dns1123_label)
    image = container.get("image") or ""
    if not image:
        errors.append(required(at.child("image")))
    elif facts.in_pod and image.strip() != image:
        errors.append(invalid(at.child("image"), image, "must not have leading or trailing whitespace"))
    policy = container.get("terminationMessagePolicy") or ""
    if policy not in MESSAGE_POLICIES:
        at_policy = at.child("terminationMessagePolicy")
        errors.append(not_supported(at_policy, policy, MESSAGE_POLICIES) if policy else required(at_policy))
    errors += _ports(at.child("ports"), container.get("ports") or [], facts)
    errors += validate_env(at.child("env"), container.get("env"), facts.volumes)
    errors += validate_env_from(at.child("envFrom"), container.get("envFrom"))
    errors += validate_mounts(at.child("volumeMounts"), container, facts)
    errors += _devices(at.child("volumeDevices"), container, facts)
    errors += _pull_policy(at.child("imagePullPolicy"), container.get("imagePullPolicy") or "")
    errors += requirements(at.child("resources"), container.get("resources"), facts.claims)
    errors += _resize_policy(at.child("resizePolicy"), container.get("resizePolicy") or [], facts.restart_policy)
    errors += validate_container_security(
        at.child("securityContext"),
        container.get("securityContext"),
        privileged=facts.privileged,
        host_users=facts.host_users,
    )
    return errors + _restart(at, container)


def _pull_policy(path: Path, policy: str) -> list[FieldError]:
    if not policy:
        return [required(path)]
    return [] if policy in PULL_POLICIES else [not_supported(path, policy, PULL_POLICIES)]


def _ports(path: Path, ports: Sequence[Object], facts: PodFacts) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, port in enumerate(ports):
        at, name = path.index(index), port.get("name") or ""
        if name:
            wrong = by_rule(at.child("name"), name, names.port_name)
            errors += wrong
            if not wrong and name in seen:
                errors.append(duplicate(at.child("name"), name))
            seen.add(name)
        number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
        if not number:
            errors.append(required(at.child("containerPort")))
        else:
            errors += [invalid(at.child("containerPort"), number, text) for text in names.port_number(number)]
        if host:
            errors += [invalid(at.child("hostPort"), host, text) for text in names.port_number(host)]
        if facts.host_network and (host or facts.in_pod) and host != number:
            text = "must match `hostPort` when `hostNetwork` is true"
            errors.append(invalid(at.child("containerPort"), number, text))
        protocol = port.get("protocol") or ""
        if protocol not in PROTOCOLS:
            at_protocol = at.child("protocol")
            errors.append(not_supported(at_protocol, protocol, PROTOCOLS) if protocol else required(at_protocol))
    return errors


def _host_port_conflicts(path: Path, containers: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, container in enumerate(containers):
        for number, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if key in seen:
                errors.append(duplicate(path.index(index).child("ports").index(number).child("hostPort"), key))
            seen.add(key)
    return errors


def validate_mounts(path: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    """Check where a container sees its pod's volumes."""
    errors: list[FieldError] = []
    seen: set[str] = set()
    devices = container.get("volumeDevices") or ()
    device_names = {device.get("name") for device in devices}
    device_paths = {device.get("devicePath") for device in devices}
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        at, name, where = path.index(index), mount.get("name") or "", mount.get("mountPath") or ""
        if not name:
            errors.append(required(at.child("name")))
        elif name not in facts.volumes:
            errors.append(not_found(at.child("name"), name))
        if not where:
            errors.append(required(at.child("mountPath")))
        if where in seen:
            errors.append(invalid(at.child("mountPath"), where, "must be unique"))
        seen.add(where)
        if name in device_names:
            errors.append(invalid(at.child("name"), name, "must not already exist in volumeDevices"))
        if where in device_paths:
            text = "must not already exist as a path in volumeDevices"
            errors.append(invalid(at.child("mountPath"), where, text))
        errors += _sub_paths(path, mount)
        errors += _propagation(at, mount, container)
    return errors


def _sub_paths(path: Path, mount: Object) -> list[FieldError]:
    """Check where in the volume a mount begins; Kubernetes reports it without the mount's index."""
    errors: list[FieldError] = []
    sub, expression = mount.get("subPath") or "", mount.get("subPathExpr") or ""
    if sub:
        errors += relative_path(path.child("subPath"), sub)
    if expression:
        if sub:
            text = "subPathExpr and subPath are mutually exclusive"
            errors.append(invalid(path.child("subPathExpr"), expression, text))
        errors += relative_path(path.child("subPathExpr"), expression)
    return errors


def _propagation(at: Path, mount: Object, container: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    mode, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    if mode is not None:
        if mode not in PROPAGATIONS:
            errors.append(not_supported(at.child("mountPropagation"), mode, PROPAGATIONS))
        elif mode == "Bidirectional" and not (container.get("securityContext") or {}).get("privileged"):
            text = "Bidirectional mount propagation is available only to privileged containers"
            errors.append(forbidden(at.child("mountPropagation"), text))
    if recursive is not None:
        where = at.child("recursiveReadOnly")
        if recursive not in RECURSIVE:
            errors.append(not_supported(where, recursive, RECURSIVE))
        elif recursive != "Disabled":
            if not mount.get("readOnly"):
                errors.append(forbidden(where, "may only be specified when readOnly is true"))
            if mode not in {None, "None"}:
                errors.append(forbidden(where, "may only be specified when mountPropagation is None or not specified"))
    return errors


def _devices(path: Path, container: Object, facts: PodFacts) -> list[FieldError]:
    errors: list[FieldError] = []
    seen_names: set[str] = set()
    seen_paths: set[str] = set()
    for index, device in enumerate(container.get("volumeDevices") or ()):
        at, name, where = path.index(index), device.get("name") or "", device.get("devicePath") or ""
        if not name:
            errors.append(required(at.child("name")))
        if name in seen_names:
            errors.append(invalid(at.child("name"), name, "must be unique"))
        volume = facts.volumes.get(name)
        if volume is None:
            errors.append(not_found(at.child("name"), name))
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            text = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(invalid(at.child("name"), name, text))
        if not where:
            errors.append(required(at.child("devicePath")))
        elif where in seen_paths:
            errors.append(invalid(at.child("devicePath"), where, "must be unique"))
        else:
            errors += no_backsteps(at.child("devicePath"), where)
        seen_names.add(name)
        seen_paths.add(where)
    return errors


def _resize_policy(path: Path, policies: Sequence[Object], pod_restart: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        at, resource, restart = path.index(index), policy.get("resourceName") or "", policy.get("restartPolicy") or ""
        if resource in seen:
            errors.append(duplicate(at, resource))
        seen.add(resource)
        if resource not in {"cpu", "memory"}:
            missing = required(path) if not resource else not_supported(path, resource, ("cpu", "memory"))
            errors.append(missing)
        if restart not in {"NotRequired", "RestartContainer"}:
            supported = ("NotRequired", "RestartContainer")
            errors.append(not_supported(path, restart, supported) if restart else required(path))
        elif pod_restart == "Never" and restart != "NotRequired":
            errors.append(invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'"))
    return errors


def _restart(at: Path, container: Object) -> list[FieldError]:
    policy, rules = container.get("restartPolicy"), container.get("restartPolicyRules") or []
    errors: list[FieldError] = []
    if policy is not None and policy not in {"Always", "Never", "OnFailure"}:
        errors.append(not_supported(at.child("restartPolicy"), policy, ("Always", "Never", "OnFailure")))
    where = at.child("restartPolicyRules")
    if rules and policy is None:
        errors.append(required(at.child("restartPolicy"), "must specify restartPolicy when restart rules are used"))
    if len(rules) > 20:
        errors.append(too_many(where, len(rules), 20))
    for index, rule in enumerate(rules):
        errors += _restart_rule(where.index(index), rule)
    return errors


def _restart_rule(path: Path, rule: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if rule.get("action") != "Restart":
        errors.append(not_supported(path.child("action"), rule.get("action") or "", ("Restart",)))
    codes = rule.get("exitCodes")
    at = path.child("exitCodes")
    if codes is None:
        return [*errors, required(at, "must be specified")]
    if codes.get("operator") not in {"In", "NotIn"}:
        errors.append(not_supported(at.child("operator"), codes.get("operator") or "", ("In", "NotIn")))
    if len(codes.get("values") or ()) > 255:
        errors.append(too_many(at.child("values"), len(codes["values"]), 255))
    return errors
