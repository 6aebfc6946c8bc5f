"""Pod specifications, in pods and in every template.

Source: kubernetes pkg/apis/core/validation (ValidatePodSpec).
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.amounts import overhead
from hyperkube_api.core.annotations import annotation_map
from hyperkube_api.core.pod_specs.validation.annotations import validate_pod_annotations, validate_profiles_agree
from hyperkube_api.core.pod_specs.validation.containers import (
    PodFacts,
    all_containers,
    validate_containers,
    validate_ephemeral_containers,
    validate_host_ports,
    validate_init_containers,
)
from hyperkube_api.core.pod_specs.validation.environment import validate_file_volumes
from hyperkube_api.core.pod_specs.validation.resources import validate_pod_resources
from hyperkube_api.core.pod_specs.validation.scheduling import (
    validate_affinity,
    validate_spread_constraints,
    validate_tolerations,
)
from hyperkube_api.core.pod_specs.validation.security import validate_pod_security
from hyperkube_api.core.pod_specs.validation.windows import validate_host_processes, validate_system
from hyperkube_api.core.volumes.validation.volumes import valid_volumes
from hyperkube_api.meta.validation import by_rule, ip_address, labels, one_of

from hyperkube.machinery import names
from hyperkube.machinery.field import FieldError, Path, duplicate, forbidden, invalid, required, too_long
from hyperkube.machinery.objects import Object, annotations_of

RESTART_POLICIES = ("Always", "OnFailure", "Never")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
MAX_DEADLINE = 2**31 - 1
MAX_NAMESERVERS = 3
MAX_SEARCHES = 32
MAX_SEARCH_CHARS = 2048


def validate_pod_spec(
    path: Path,
    spec: Object,
    *,
    in_pod: bool = True,
    privileged: bool = True,
    pod_name: str = "",
    static: bool = False,
) -> list[FieldError]:
    """Check a pod specification.

    Args:
        path: where it is.
        spec: the specification, with its defaults.
        in_pod: whether it is a pod's own, not a template's.
        privileged: whether the cluster allows privileged containers.
        pod_name: the pod's name, from which those of ephemeral claims are made.
        static: whether this is the mirror of a pod that its node has from a file.
    """
    volumes, errors = valid_volumes(path.child("volumes"), spec.get("volumes"), pod_name, in_pod=in_pod)
    facts = _facts(spec, volumes, privileged=privileged)
    regular, init, ephemeral = (spec.get(f"{sort}ontainers") or [] for sort in ("c", "initC", "ephemeralC"))
    if spec.get("resourceClaims"):
        text = "static pods do not support resource claims"
        refused = [forbidden(Path("[]"), text) for _ in spec["resourceClaims"]]
        errors += refused if static else _claims(path.child("resourceClaims"), spec["resourceClaims"])
    errors += validate_containers(path.child("containers"), regular, facts)
    if init:
        errors += validate_init_containers(path.child("initContainers"), init, regular, facts)
    if ephemeral:
        errors += validate_ephemeral_containers(path.child("ephemeralContainers"), ephemeral, [*regular, *init], facts)
    errors += validate_pod_resources(path, spec, facts.claims)
    errors += validate_host_ports(path, spec, in_pod=in_pod)
    errors += one_of(path.child("restartPolicy"), spec.get("restartPolicy"), RESTART_POLICIES)
    errors += one_of(path.child("dnsPolicy"), spec.get("dnsPolicy"), DNS_POLICIES)
    errors += labels(path.child("nodeSelector"), spec.get("nodeSelector"))
    errors += validate_pod_security(path.child("securityContext"), spec.get("securityContext"), spec)
    errors += validate_affinity(path.child("affinity"), spec.get("affinity"))
    errors += _dns_config(path.child("dnsConfig"), spec)
    errors += _gates(path, spec)
    errors += validate_spread_constraints(
        path.child("topologySpreadConstraints"), spec.get("topologySpreadConstraints")
    )
    errors += validate_host_processes(path, spec, privileged=privileged)
    errors += _host_users(path, spec)
    errors += _hostname_override(path.child("hostnameOverride"), spec)
    errors += _names(path, spec)
    errors += validate_tolerations(path.child("tolerations"), spec.get("tolerations"))
    errors += _host_aliases(path.child("hostAliases"), spec.get("hostAliases") or [])
    errors += _classes(path, spec)
    errors += validate_system(path, spec)
    errors += _group(path.child("schedulingGroup"), spec.get("schedulingGroup"))
    return errors + validate_file_volumes(all_containers(path, spec), spec.get("volumes"))


def _facts(spec: Object, volumes: dict[str, Object], *, privileged: bool) -> PodFacts:
    grace = spec.get("terminationGracePeriodSeconds")
    return PodFacts(
        volumes=volumes,
        claims=frozenset(claim["name"] for claim in spec.get("resourceClaims") or () if claim.get("name")),
        grace=30 if grace is None else grace,
        os=spec.get("os"),
        restart_policy=spec.get("restartPolicy") or "",
        host_users=spec.get("hostUsers") is not False,
        privileged=privileged,
    )


def _claims(path: Path, claims: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        at, name = path.index(index), claim.get("name") or ""
        if not name:
            errors.append(required(at.child("name")))
        elif name in seen:
            errors.append(duplicate(at.child("name"), name))
        else:
            errors += by_rule(at.child("name"), name, names.dns1123_label)
        seen.add(name)
        members = ("resourceClaimName", "resourceClaimTemplateName")
        given = [member for member in members if claim.get(member) is not None]
        if len(given) > 1:
            text = "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            errors.append(invalid(at, _claim_shape(claim), text))
        if not given:
            text = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"
            errors.append(invalid(at, _claim_shape(claim), text))
        for member in given:
            errors += by_rule(at.child(member), claim[member], names.dns1123_subdomain)
    return errors


def _claim_shape(claim: Object) -> Object:
    return {
        "Name": claim.get("name") or "",
        "ResourceClaimName": claim.get("resourceClaimName"),
        "ResourceClaimTemplateName": claim.get("resourceClaimTemplateName"),
    }


def _dns_config(path: Path, spec: Object) -> list[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            text = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [required(path.child("nameservers"), text)]
    if config is None:
        return []
    return (
        _servers(path, config)
        + _searches(path.child("searches"), config.get("searches") or [])
        + [
            required(path.child("options").index(index), "must not be empty")
            for index, option in enumerate(config.get("options") or ())
            if not option.get("name")
        ]
    )


def _servers(path: Path, config: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    servers = config.get("nameservers") or []
    at = path.child("nameservers")
    if len(servers) > MAX_NAMESERVERS:
        errors.append(invalid(at, servers, f"must not have more than {MAX_NAMESERVERS} nameservers"))
    for index, server in enumerate(servers):
        errors += ip_address(at.index(index), server)
    return errors


def _searches(at: Path, searches: Sequence[str]) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(searches) > MAX_SEARCHES:
        errors.append(invalid(at, searches, f"must not have more than {MAX_SEARCHES} search paths"))
    if len(" ".join(searches)) > MAX_SEARCH_CHARS:
        text = f"must not have more than {MAX_SEARCH_CHARS} characters (including spaces) in the search list"
        errors.append(invalid(at, searches, text))
    for index, search in enumerate(searches):
        if search != ".":
            errors += [
                invalid(at.index(index), search, text)
                for text in names.dns1123_subdomain_with_underscore(search.removesuffix("."))
            ]
    return errors


def _gates(path: Path, spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        at = path.child("readinessGates").index(index).child("conditionType")
        errors += by_rule(at, gate.get("conditionType") or "", names.qualified_name)
    seen: set[str] = set()
    for index, gate in enumerate(spec.get("schedulingGates") or ()):
        at, name = path.child("schedulingGates").index(index), gate.get("name") or ""
        errors += [invalid(at, name, text) for text in names.qualified_name(name)]
        if name in seen:
            errors.append(duplicate(at, name))
        seen.add(name)
    return errors


def _host_users(path: Path, spec: Object) -> list[FieldError]:
    if spec.get("hostUsers") is not False:
        return []
    text = "when `hostUsers` is false"
    errors = [
        forbidden(path.child(shown), text)
        for member, shown in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
        if spec.get(member)
    ]
    return errors + [
        forbidden(at.child("volumeDevices"), text)
        for at, container in all_containers(path, spec)
        if container.get("volumeDevices")
    ]


def _names(path: Path, spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for member in ("serviceAccountName", "nodeName"):
        if spec.get(member):
            errors += by_rule(path.child(member), spec[member], names.dns1123_subdomain)
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        at = path.child("activeDeadlineSeconds")
        errors += [invalid(at, deadline, text) for text in names.in_range(deadline, 1, MAX_DEADLINE)]
    for member in ("hostname", "subdomain"):
        if spec.get(member):
            errors += by_rule(path.child(member), spec[member], names.dns1123_label)
    return errors


def _hostname_override(path: Path, spec: Object) -> list[FieldError]:
    value = spec.get("hostnameOverride")
    if value is None:
        return []
    errors: list[FieldError] = []
    if spec.get("setHostnameAsFQDN"):
        errors.append(forbidden(path, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(forbidden(path, "may not be specified when hostNetwork is true"))
    if len(value) > 64:
        errors.append(too_long(path, 64))
    return errors + by_rule(path, value, names.dns1123_subdomain)


def _host_aliases(path: Path, aliases: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, alias in enumerate(aliases):
        at = path.index(index)
        errors += ip_address(at.child("ip"), alias.get("ip") or "")
        for number, name in enumerate(alias.get("hostnames") or ()):
            errors += by_rule(at.child("hostnames").index(number), name, names.dns1123_subdomain)
    return errors


def _classes(path: Path, spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    if spec.get("priorityClassName"):
        errors += by_rule(path.child("priorityClassName"), spec["priorityClassName"], names.dns1123_subdomain)
    if spec.get("runtimeClassName") is not None:
        errors += by_rule(path.child("runtimeClassName"), spec["runtimeClassName"], names.dns1123_subdomain)
    if spec.get("preemptionPolicy") is not None:
        errors += one_of(path.child("preemptionPolicy"), spec["preemptionPolicy"], PREEMPTION_POLICIES)
    return errors + overhead(path.child("overhead"), spec.get("overhead"))


def _group(path: Path, group: Object | None) -> list[FieldError]:
    """Check with whom the pod is placed."""
    if group is None:
        return []
    name, at = group.get("podGroupName"), path.child("podGroupName")
    if name is None:
        return [invalid(at, None, "must specify one of: `podGroupName`")]
    return by_rule(at, name, names.dns1123_subdomain)


def validate_template_metadata(path: Path, template: Object) -> list[FieldError]:
    """Check labels and annotations of a pod template."""
    notes, at = annotations_of(template), path.child("annotations")
    errors = labels(path.child("labels"), (template.get("metadata") or {}).get("labels"))
    return errors + annotation_map(at, notes) + validate_pod_annotations(at, notes, template.get("spec") or {})


def validate_template(path: Path, template: Object | None, *, privileged: bool = True) -> list[FieldError]:
    """Check a pod template: its labels, its annotations and its specification.

    Kubernetes reports labels and annotations as if they were not in the metadata.
    """
    if template is None:
        return [required(path)]
    spec, notes = template.get("spec") or {}, annotations_of(template)
    errors = validate_template_metadata(path, template)
    errors += validate_pod_spec(path.child("spec"), spec, in_pod=False, privileged=privileged)
    errors += validate_profiles_agree(path.child("spec"), notes, spec)
    if spec.get("ephemeralContainers"):
        text = "ephemeral containers not allowed in pod template"
        errors.append(forbidden(path.child("spec", "ephemeralContainers"), text))
    return errors
