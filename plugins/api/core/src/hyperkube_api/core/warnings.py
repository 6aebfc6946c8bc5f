"""What is allowed and yet unwise: texts for the client's Warning header.

Source: kubernetes pkg/api/{pod,node,service,persistentvolume,persistentvolumeclaim}/warnings.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_api.core.validation.claims import CLASS_ANNOTATION
from hyperkube_api.core.validation.scheduling import PREFERRED, REQUIRED

from hyperkube.machinery import names
from hyperkube.machinery.field import ROOT, Path, quote
from hyperkube.machinery.objects import Object, annotations_of, name_of
from hyperkube.machinery.quantity import parse

DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
}
DEPRECATED_VOLUMES = {
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
}
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
MOUNTABLE_SECRETS = "kubernetes.io/enforce-mountable-secrets"
_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_LABEL_ADVICE = "which can result in surprising behavior; a DNS label is recommended: "
_META = ROOT.child("metadata")


def pod_warnings(pod: Object, old: Object | None) -> list[str]:
    """Return the warnings for a new pod; updates of pods are made by machines."""
    if old is not None:
        return []
    warnings = []
    name = name_of(pod)
    errors = names.dns1123_label(name) if name else []
    if errors:
        warnings.append(f"metadata.name: this is used in the Pod's hostname, {_LABEL_ADVICE}{_listed(errors)}")
    return warnings + _spec_warnings(ROOT, pod)


def workload_name_warnings(obj: Object) -> list[str]:
    """Return the warning for a workload whose name does not fit a host name."""
    errors = names.dns1123_label(name_of(obj))
    if not errors:
        return []
    return [f"metadata.name: this is used in Pod names and hostnames, {_LABEL_ADVICE}{_listed(errors)}"]


def _listed(errors: Sequence[str]) -> str:
    return f"[{' '.join(errors)}]"


def template_warnings(template: Object | None, path: str, old: Object | None) -> list[str]:
    """Return the warnings for a pod template."""
    del old
    return _spec_warnings(Path(path), template) if template else []


def _spec_warnings(root: Path, pod: Object) -> list[str]:
    spec, path = pod.get("spec") or {}, root.child("spec")
    found = [
        f"{path.child('nodeSelector').key(key)}: {DEPRECATED_LABELS[key]}"
        for key in spec.get("nodeSelector") or ()
        if key in DEPRECATED_LABELS
    ]
    found += _affinity(path.child("affinity", "nodeAffinity"), (spec.get("affinity") or {}).get("nodeAffinity") or {})
    found += _spread(path.child("topologySpreadConstraints"), spec.get("topologySpreadConstraints") or [])
    found += _annotations(root.child("metadata", "annotations"), annotations_of(pod), spec)
    found += _volumes(path.child("volumes"), spec.get("volumes") or [])
    found += _projections(spec.get("volumes") or [])
    found += _repeated(path.child("hostAliases"), spec.get("hostAliases") or [], "ip")
    found += _pull_secrets(path.child("imagePullSecrets"), spec.get("imagePullSecrets") or [])
    for member in _CONTAINERS:
        for index, container in enumerate(spec.get(member) or ()):
            found += _container(path.child(member).index(index), container)
    if (spec.get("terminationGracePeriodSeconds") or 0) < 0:
        text = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path.child('terminationGracePeriodSeconds')}: {text}")
    return found


def _affinity(path: Path, rules: Object) -> list[str]:
    found: list[str] = []
    terms = path.child(REQUIRED, "nodeSelectorTerms")
    for index, term in enumerate((rules.get(REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        found += _expressions(terms.index(index), term)
    for index, item in enumerate(rules.get(PREFERRED) or ()):
        found += _expressions(path.child(PREFERRED).index(index).child("preference"), item.get("preference") or {})
    return found


def _expressions(path: Path, term: Object) -> list[str]:
    return [
        _of_key(path.child("matchExpressions").index(index).child("key"), expression["key"])
        for index, expression in enumerate(term.get("matchExpressions") or ())
        if expression.get("key") in DEPRECATED_LABELS
    ]


def _of_key(path: Path, key: str) -> str:
    return f"{path}: {key} is {DEPRECATED_LABELS[key]}"


def _spread(path: Path, constraints: Sequence[Object]) -> list[str]:
    found: list[str] = []
    for index, constraint in enumerate(constraints):
        at = path.index(index)
        if constraint.get("labelSelector") is None:
            found.append(f"{at.child('labelSelector')}: a null labelSelector results in matching no pod")
        if constraint.get("topologyKey") in DEPRECATED_LABELS:
            found.append(_of_key(at.child("topologyKey"), constraint["topologyKey"]))
    return found


def _annotations(path: Path, annotations: dict[str, str], spec: Object) -> list[str]:
    found: list[str] = []
    seccomp = 'non-functional in v1.27+; use the "seccompProfile" field instead'
    if SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        found.append(f"{path.key(SECCOMP_POD)}: {seccomp}")
    for key in sorted(annotations):
        if key.startswith(SECCOMP_CONTAINER):
            found.append(f"{path.key(key)}: {seccomp}")
        elif key.startswith(APPARMOR) and not (spec.get("securityContext") or {}).get("appArmorProfile"):
            found.append(f'{path.key(key)}: deprecated since v1.30; use the "appArmorProfile" field instead')
    return found


def _volumes(path: Path, volumes: Sequence[Object]) -> list[str]:
    return [
        f"{path.index(index).child(member)}: {text}"
        for index, volume in enumerate(volumes)
        for member, text in DEPRECATED_VOLUMES.items()
        if volume.get(member) is not None
    ]


def _projections(volumes: Sequence[Object]) -> list[str]:
    return [
        f"volume {quote(volume.get('name') or '')} (Projected) has no sources provided"
        for volume in volumes
        if volume.get("projected") is not None and not any(volume["projected"].get("sources") or ())
    ]


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
    empty = [
        f'{path.index(index).child("name")}: invalid empty name ""'
        for index, secret in enumerate(secrets)
        if not secret.get("name")
    ]
    return empty + _repeated(path, [secret for secret in secrets if secret.get("name")], "name")


def _container(path: Path, container: Object) -> list[str]:
    found: list[str] = []
    for member in ("limits", "requests"):
        for name, text in ((container.get("resources") or {}).get(member) or {}).items():
            if name in {"memory", "ephemeral-storage"}:
                found += _fraction(path.child("resources", member).key(name), text)
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name") or ""
        if name in seen:
            at = path.child("env").index(index)
            found.append(f"{at}: hides previous definition of {quote(name)}, which may be dropped when using apply")
        seen.add(name)
    return found + _ports(path.child("ports"), container.get("ports") or [])


_PORT_MEMBERS = (
    ("Name", "name", ""),
    ("HostPort", "hostPort", 0),
    ("ContainerPort", "containerPort", 0),
    ("Protocol", "protocol", ""),
    ("HostIP", "hostIP", ""),
)


def _ports(path: Path, ports: Sequence[Object]) -> list[str]:
    found: list[str] = []
    seen: dict[tuple[object, ...], int] = {}
    for index, port in enumerate(ports):
        key = tuple(port.get(member) for member in ("containerPort", "protocol", "hostIP", "hostPort"))
        if key in seen:
            found.append(f"{path.index(index)}: duplicate port definition with {path.index(seen[key])}")
        else:
            seen[key] = index
        if port.get("hostIP") and not port.get("hostPort"):
            shown = " ".join(f"{name}:{port.get(member) or empty}" for name, member, empty in _PORT_MEMBERS)
            found.append(f"{path.index(index)}: hostIP set without hostPort: {{{shown}}}")
    return found


def _fraction(path: Path, text: str) -> list[str]:
    if parse(text).milli_value() % 1000 == 0:
        return []
    return [f"{path}: fractional byte value {quote(str(parse(text)))} is invalid, must be an integer"]


def service_warnings(service: Object) -> list[str]:
    """Return the warnings for a service."""
    spec = service.get("spec") or {}
    path = ROOT.child("spec")
    found: list[str] = []
    if spec.get("externalIPs"):
        found.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if (spec.get("clusterIPs") or [""])[0] == "None":
        if spec.get("loadBalancerIP"):
            found.append("spec.loadBalancerIP is ignored for headless services")
        if spec.get("externalIPs"):
            found.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") not in {None, "", "None"}:
            found.append("spec.SessionAffinity is ignored for headless services")
    if spec.get("loadBalancerIP"):
        found += _odd_address(path.child("loadBalancerIP"), spec["loadBalancerIP"])
    if spec.get("trafficDistribution") == "PreferClose":
        found.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return found


def _odd_address(path: Path, text: str) -> list[str]:
    parts = text.split(".")
    if len(parts) == 4 and all(part.isdecimal() for part in parts):
        plain = ".".join(str(int(part)) for part in parts)
        if plain != text:
            return [f"{path}: non-standard IP address {quote(text)} is invalid: use {quote(plain)}"]
    return []


def node_warnings(node: Object) -> list[str]:
    """Return the warnings for a node."""
    spec, path = node.get("spec") or {}, ROOT.child("spec")
    found: list[str] = []
    if spec.get("externalID"):
        found.append(f"{path.child('externalID')}: this field is deprecated, and is unused by Kubernetes")
    return found


def persistent_volume_warnings(volume: Object) -> list[str]:
    """Return the warnings for a persistent volume."""
    spec, path = volume.get("spec") or {}, ROOT.child("spec")
    found = _class_annotation(volume)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        text = (
            "The Recycle reclaim policy is deprecated. "
            "Instead, the recommended approach is to use dynamic provisioning."
        )
        found.append(f"{path.child('persistentVolumeReclaimPolicy')}: {text}")
    for member, text in DEPRECATED_VOLUMES.items():
        if spec.get(member) is not None and member != "gitRepo":
            found.append(f"{path.child(member)}: {text}")
    return found


def _class_annotation(obj: Object) -> list[str]:
    if CLASS_ANNOTATION not in annotations_of(obj):
        return []
    at = _META.child("annotations").key(CLASS_ANNOTATION)
    return [f'{at}: deprecated since v1.8; use "storageClassName" attribute instead']


def claim_object_warnings(claim: Object) -> list[str]:
    """Return the warnings for a claim."""
    return _class_annotation(claim) + claim_warnings(claim.get("spec") or {}, "spec")


def claim_warnings(spec: Object, path: str) -> list[str]:
    """Return the warnings for what a claim asks for."""
    found: list[str] = []
    for member in ("requests", "limits"):
        text = ((spec.get("resources") or {}).get(member) or {}).get("storage")
        if text is not None:
            found += _fraction(Path(path).child("resources", member).key("storage"), text)
    return found


def secret_warnings(secret: Object) -> list[str]:
    """Return the warning for a TLS secret that holds no certificate."""
    if secret.get("type") != "kubernetes.io/tls":
        return []
    from base64 import b64decode

    data = secret.get("data") or {}
    certificate, key = (b64decode(data.get(name) or "") for name in ("tls.crt", "tls.key"))
    if b"-----BEGIN" not in certificate:
        return ["tls: failed to find any PEM data in certificate input"]
    if b"-----BEGIN" not in key:
        return ["tls: failed to find any PEM data in key input"]
    return []


def service_account_warnings(account: Object, old: Object | None) -> list[str]:
    """Return the warning for an annotation that will go."""
    if MOUNTABLE_SECRETS not in annotations_of(account) or (old and MOUNTABLE_SECRETS in annotations_of(old)):
        return []
    at = _META.child("annotations").key(MOUNTABLE_SECRETS)
    return [f"{at}: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"]
