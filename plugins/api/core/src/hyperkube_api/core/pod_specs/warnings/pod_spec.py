"""Warnings for what a pod's specification or a template of pods says.

Source: kubernetes pkg/api/pod/warnings.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.amount_warnings import amount_warnings
from hyperkube_api.core.ip_warnings import ip_warnings
from hyperkube_api.core.nodes.deprecated_labels import DEPRECATED_LABELS, deprecated_label_warning, term_warnings
from hyperkube_api.core.pod_specs.annotations import SECCOMP_POD
from hyperkube_api.core.pod_specs.validation.scheduling import PREFERRED, REQUIRED
from hyperkube_api.core.pod_specs.warnings.containers import container_warnings, port_warnings
from hyperkube_api.core.volumes.warnings import volume_warnings

from hyperkube.machinery.field import Path, quote
from hyperkube.machinery.objects import Object, annotations_of

_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_NO_SELECTOR = "a null labelSelector results in matching no pod"


def template_warnings(template: Object | None, path: str, old: Object | None) -> list[str]:
    """Return the warnings for a pod template."""
    del old
    return pod_spec_warnings(Path(path), template) if template else []


def pod_spec_warnings(root: Path, pod: Object) -> list[str]:
    """Return the warnings for a pod (at the root) or a template, in the order of Kubernetes."""
    spec, path = pod.get("spec") or {}, root.child("spec")
    annotations, noted = annotations_of(pod), root.child("metadata", "annotations")
    affinity = spec.get("affinity") or {}
    found = [
        f"{path.child('nodeSelector').key(key)}: {DEPRECATED_LABELS[key]}"
        for key in sorted(spec.get("nodeSelector") or ())
        if key in DEPRECATED_LABELS
    ]
    if affinity.get("nodeAffinity"):
        found += _node_affinity(path.child("affinity", "nodeAffinity"), affinity["nodeAffinity"])
    found += _spread(path.child("topologySpreadConstraints"), spec.get("topologySpreadConstraints") or [])
    found += [f"{noted.key(key)}: {text}" for key, text in _ANNOTATIONS.items() if key in annotations]
    found += volume_warnings(path.child("volumes"), spec.get("volumes") or [])
    found += _repeated(path.child("hostAliases"), spec.get("hostAliases") or [], "ip")
    found += _pull_secrets(path.child("imagePullSecrets"), spec.get("imagePullSecrets") or [])
    if spec.get("overhead"):
        found += amount_warnings(path.child("overhead"), spec["overhead"])
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        found.append(f'{noted.key(SECCOMP_POD)}: non-functional in v1.27+; use the "seccompProfile" field instead')
    found += container_warnings(root, spec, annotations)
    found += port_warnings(path, spec)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path.child('terminationGracePeriodSeconds')}: {text}")
    for member in ("podAffinity", "podAntiAffinity"):
        if affinity.get(member):
            found += _pod_affinity(path.child("affinity", member), affinity[member])
    servers = path.child("dnsConfig", "nameservers")
    for index, text in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        found += ip_warnings(servers.index(index), text)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        found += ip_warnings(path.child("hostAliases").index(index).child("ip"), alias.get("ip") or "")
    return found


def _node_affinity(path: Path, rules: Object) -> list[str]:
    found: list[str] = []
    terms = path.child(REQUIRED, "nodeSelectorTerms")
    for index, term in enumerate((rules.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        found += term_warnings(terms.index(index), term)
    for index, item in enumerate(rules.get(PREFERRED) or ()):
        at = path.child(PREFERRED).index(index).child("preference")
        found += term_warnings(at, item.get("preference") or {}, values=True)
    return found


def _pod_affinity(path: Path, rules: Object) -> list[str]:
    required = [
        path.child(REQUIRED).index(index)
        for index, term in enumerate(rules.get(REQUIRED) or ())
        if term.get("labelSelector") is None
    ]
    preferred = [
        path.child(PREFERRED).index(index).child("podAffinityTerm")
        for index, item in enumerate(rules.get(PREFERRED) or ())
        if (item.get("podAffinityTerm") or {}).get("labelSelector") is None
    ]
    return [f"{at.child('labelSelector')}: {_NO_SELECTOR}" for at in required + preferred]


def _spread(path: Path, constraints: Sequence[Object]) -> list[str]:
    found: list[str] = []
    for index, constraint in enumerate(constraints):
        at = path.index(index)
        if constraint.get("topologyKey") in DEPRECATED_LABELS:
            found.append(deprecated_label_warning(at.child("topologyKey"), constraint["topologyKey"]))
        if constraint.get("labelSelector") is None:
            found.append(f"{at.child('labelSelector')}: {_NO_SELECTOR}")
    return found


def _repeated(path: Path, items: Sequence[Object], member: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        value = item.get(member) or ""
        if value in seen:
            found.append(f"{path.index(index).child(member)}: duplicate {member} {quote(value)}")
        seen.add(value)
    return found


def _pull_secrets(path: Path, secrets: Sequence[Object]) -> list[str]:
    return _repeated(path, secrets, "name") + [
        f'{path.index(index).child("name")}: invalid empty name ""'
        for index, secret in enumerate(secrets)
        if not secret.get("name")
    ]
