"""What controllers are called: the key users type, Kubernetes' canonical name, and the service account.

A controller that is not listed here (anybody's plugin) is called ``NAME-controller`` in both other senses.
Sources: kubernetes ``cmd/kube-controller-manager/names/controller_names.go`` and the RBAC bootstrap policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hyperkube.machinery.errors import UsageError

DISABLED_BY_DEFAULT = frozenset({"bootstrapsigner", "tokencleaner", "selinux-warning"})

ACTS_AS_MANAGER = frozenset({"serviceaccount-token"})
"""Controllers that have no service account: without this one there would be none to act as."""

_CANONICAL = {
    "endpoint": "endpoints-controller",
    "endpointslicemirroring": "endpointslice-mirroring-controller",
    "podgc": "pod-garbage-collector-controller",
    "garbagecollector": "garbage-collector-controller",
    "horizontalpodautoscaling": "horizontal-pod-autoscaler-controller",
    "csrsigning": "certificatesigningrequest-signing-controller",
    "csrapproving": "certificatesigningrequest-approving-controller",
    "csrcleaner": "certificatesigningrequest-cleaner-controller",
    "bootstrapsigner": "bootstrap-signer-controller",
    "tokencleaner": "token-cleaner-controller",
    "nodeipam": "node-ipam-controller",
    "nodelifecycle": "node-lifecycle-controller",
    "service": "service-lb-controller",
    "route": "node-route-controller",
    "attachdetach": "persistentvolume-attach-detach-controller",
    "pvc-protection": "persistentvolumeclaim-protection-controller",
    "pv-protection": "persistentvolume-protection-controller",
    "root-ca-cert-publisher": "root-ca-certificate-publisher-controller",
}
_ACCOUNTS = {
    "replicationcontroller": "replication-controller",
    "podgc": "pod-garbage-collector",
    "garbagecollector": "generic-garbage-collector",
    "serviceaccount": "service-account-controller",
    "daemonset": "daemon-set-controller",
    "horizontalpodautoscaling": "horizontal-pod-autoscaler",
    "csrsigning": "certificate-controller",
    "csrapproving": "certificate-controller",
    "csrcleaner": "certificate-controller",
    "bootstrapsigner": "bootstrap-signer",
    "tokencleaner": "token-cleaner",
    "nodeipam": "node-controller",
    "nodelifecycle": "node-controller",
    "persistentvolume-binder": "persistent-volume-binder",
    "persistentvolume-expander": "expand-controller",
    "root-ca-cert-publisher": "root-ca-cert-publisher",
    "ephemeral-volume": "ephemeral-volume-controller",
    "legacy-serviceaccount-token-cleaner": "legacy-service-account-token-cleaner",
    "service-cidr": "service-cidrs-controller",
    "cloud-node": "node-controller",
    "resourceclaim": "resource-claim-controller",
}

QUEUES = {
    "bootstrapsigner": "bootstrap_signer_queue",
    "clusterrole-aggregation": "ClusterRoleAggregator",
    "endpointslice": "endpoint_slice",
    "endpointslicemirroring": "endpoint_slice_mirroring",
    "ephemeral-volume": "ephemeral_volume",
    "garbagecollector": "garbage_collector_attempt_to_delete",
    "horizontalpodautoscaling": "horizontalpodautoscaler",
    "nodelifecycle": "node_lifecycle_controller",
    "persistentvolume-binder": "claims",
    "pv-protection": "pvprotection",
    "pvc-protection": "pvcprotection",
    "replicationcontroller": "replicationmanager",
    "resourceclaim": "resource_claim",
    "resourcequota": "resourcequota_primary",
    "root-ca-cert-publisher": "root_ca_cert_publisher",
    "serviceaccount-token": "serviceaccount_tokens_secret",
    "tainteviction": "noexec_taint_pod",
    "tokencleaner": "token_cleaner",
    "ttl": "ttlcontroller",
    "ttl-after-finished": "ttl_jobs_to_delete",
}
"""What the metrics call the queue of a controller, where that is not the key. Each is named in the constructor of its
controller below kubernetes ``pkg/controller``; where there are several queues, it is the one with the controller's own
objects."""


def canonical(key: str) -> str:
    """Return the name that Kubernetes uses today for the controller users know as `key`."""
    return _CANONICAL.get(key, f"{key}-controller")


def account(key: str) -> str:
    """Return the name of the controller's service account in ``kube-system``."""
    return _ACCOUNTS.get(key, f"{key}-controller")


def chosen(installed: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """Return the keys of the controllers to run, sorted.

    Args:
        installed: the keys of the plugins that are there.
        wanted: the parts of ``--controllers``: ``*`` for all that are on by default, ``foo`` enables, ``-foo``
            disables, whatever the order; canonical names do as well.

    Raises:
        UsageError: a name that no installed controller has; the message lists the installed ones.
    """
    known = sorted(installed)
    by_name = {name: key for key in known for name in (key, canonical(key))}
    enabled: set[str] = set()
    disabled: set[str] = set()
    everything = False
    for part in wanted:
        if part == "*":
            everything = True
            continue
        name = part.removeprefix("-")
        if name not in by_name:
            raise UsageError(f"--controllers: {name!r} is not an installed controller (installed: {', '.join(known)})")
        (disabled if part.startswith("-") else enabled).add(by_name[name])
    if everything:
        enabled |= {key for key in known if key not in DISABLED_BY_DEFAULT}
    return sorted(enabled - disabled)
