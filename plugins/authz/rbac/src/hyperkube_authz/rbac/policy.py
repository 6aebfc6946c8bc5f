"""The cluster roles and bindings that Kubernetes itself relies on, as objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files

import orjson
from hyperkube_authz.rbac.plugin_roles import PluginRole

from hyperkube.kinds.rbac import RBAC_GROUP
from hyperkube.machinery.objects import Object

_KINDS = {
    "clusterRoles": "ClusterRole",
    "clusterRoleBindings": "ClusterRoleBinding",
    "roles": "Role",
    "roleBindings": "RoleBinding",
}
_METADATA = ("name", "namespace", "labels", "annotations")


_EVENTS: Object = {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch", "update"]}

_RULES: Object = {
    "apiGroups": ["resource.k8s.io"],
    "resources": ["devicetaintrules"],
    "verbs": ["get", "list", "watch"],
}

_GATED: tuple[tuple[str, str, list[Object]], ...] = (
    (
        "GenericWorkload",
        "system:kube-scheduler",
        [
            {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups/status"], "verbs": ["patch", "update"]},
        ],
    ),
    ("DRADeviceTaintRules", "system:kube-scheduler", [_RULES]),
    (
        "DRADeviceTaintRules",
        "system:controller:device-taint-eviction-controller",
        [
            _RULES,
            {
                "apiGroups": ["resource.k8s.io"],
                "resources": ["devicetaintrules/status"],
                "verbs": ["patch", "update"],
            },
        ],
    ),
)
"""Feature gates, each with the cluster role to which it adds rules."""

_GATED_CONTROLLERS: dict[str, tuple[str, list[Object]]] = {
    "GenericWorkload": (
        "podgroup-protection-controller",
        [
            {
                "apiGroups": ["scheduling.k8s.io"],
                "resources": ["podgroups"],
                "verbs": ["get", "list", "update", "watch"],
            },
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
            _EVENTS,
        ],
    ),
    "ClusterTrustBundle": (
        "kube-apiserver-serving-clustertrustbundle-publisher",
        [
            {
                "apiGroups": ["certificates.k8s.io"],
                "resourceNames": ["kubernetes.io/kube-apiserver-serving"],
                "resources": ["signers"],
                "verbs": ["attest"],
            },
            {
                "apiGroups": ["certificates.k8s.io"],
                "resources": ["clustertrustbundles"],
                "verbs": ["create", "delete", "list", "update", "watch"],
            },
            _EVENTS,
        ],
    ),
    "PodCertificateRequest": (
        "podcertificaterequestcleaner",
        [
            {
                "apiGroups": ["certificates.k8s.io"],
                "resources": ["podcertificaterequests"],
                "verbs": ["delete", "get", "list", "watch"],
            },
        ],
    ),
    "StorageVersionAPI": (
        "storage-version-garbage-collector",
        [
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["get", "list", "watch"]},
            {
                "apiGroups": ["internal.apiserver.k8s.io"],
                "resources": ["storageversions"],
                "verbs": ["delete", "get", "list", "patch", "update", "watch"],
            },
            {
                "apiGroups": ["internal.apiserver.k8s.io"],
                "resources": ["storageversions/status"],
                "verbs": ["get", "patch", "update"],
            },
        ],
    ),
    "StorageVersionMigrator": (
        "storage-version-migrator-controller",
        [
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["create", "list", "patch"]},
            {
                "apiGroups": ["storagemigration.k8s.io"],
                "resources": ["storageversionmigrations/status"],
                "verbs": ["update"],
            },
            {
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions"],
                "verbs": ["get"],
            },
            {
                "apiGroups": ["apiextensions.k8s.io"],
                "resources": ["customresourcedefinitions/status"],
                "verbs": ["patch", "update"],
            },
        ],
    ),
}
"""Feature gate → the controller that has a role with it, and the role's rules."""

_DEFAULT = {
    "labels": {"kubernetes.io/bootstrapping": "rbac-defaults"},
    "annotations": {"rbac.authorization.kubernetes.io/autoupdate": "true"},
}


def bootstrap_objects(gates: Mapping[str, bool] | None = None, plugins: Sequence[PluginRole] = ()) -> list[Object]:
    """Return fresh copies of the default roles and bindings, roles before the bindings that name them.

    Args:
        gates: feature gates that were set.
        plugins: what installed plugins add.

    Source: kubernetes ``plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go``.
    """
    table = orjson.loads(files(__package__).joinpath("policy.json").read_bytes())
    for gate, role, rules in _GATED:
        if (gates or {}).get(gate):
            next(entry for entry in table["clusterRoles"] if entry["name"] == role)["rules"].extend(rules)
    for gate, (controller, rules) in _GATED_CONTROLLERS.items():
        if (gates or {}).get(gate):
            name = f"system:controller:{controller}"
            table["clusterRoles"].append({"name": name, **_DEFAULT, "rules": rules})
            table["clusterRoleBindings"].append({"name": name, **_DEFAULT, **_bound_to(name, controller)})
    for brought in plugins:
        _add(table, brought)
    return [_object(kind, entry) for member, kind in _KINDS.items() for entry in table[member]]


def _add(table: dict[str, list[Object]], brought: PluginRole) -> None:
    """Add a plugin's rules to the role of that name, or such a role and its binding."""
    known = next((entry for entry in table["clusterRoles"] if entry["name"] == brought.role), None)
    if known is not None:
        known["rules"] = [*known["rules"], *brought.rules]
        return
    table["clusterRoles"].append({"name": brought.role, **_DEFAULT, "rules": brought.rules})
    table["clusterRoleBindings"].append({"name": brought.role, **_DEFAULT, **_binding(brought.role, brought.subject)})


def _bound_to(role: str, account: str) -> Object:
    return _binding(role, {"kind": "ServiceAccount", "name": account, "namespace": "kube-system"})


def _binding(role: str, subject: Object) -> Object:
    return {"roleRef": {"apiGroup": RBAC_GROUP, "kind": "ClusterRole", "name": role}, "subjects": [subject]}


def _object(kind: str, entry: Object) -> Object:
    metadata = {name: entry[name] for name in _METADATA if name in entry}
    rest = {name: value for name, value in entry.items() if name not in _METADATA}
    return {"apiVersion": f"{RBAC_GROUP}/v1", "kind": kind, "metadata": metadata, **rest}
