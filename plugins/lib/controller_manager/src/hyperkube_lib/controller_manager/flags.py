"""The flags that all servers have that run controllers: Kubernetes 1.36's, and those of the 1.0-1.15 line.

Sources: kubernetes ``staging/src/k8s.io/controller-manager/options``, ``staging/src/k8s.io/cloud-provider/options``.
"""

from collections.abc import Sequence

from hyperkube_lib.component_base.flags import ACCEPTED, WITHOUT_HTTP2
from hyperkube_lib.component_base.flags import FLAGS as COMPONENT_BASE
from hyperkube_lib.serving.secure_port_flags import FLAGS as DELEGATED

from hyperkube.command.common_flags import (
    API_CLIENT,
    GLOBAL,
    LEADER_ELECTION,
    PROFILING,
    SECURE_SERVING,
    delegated_auth,
)
from hyperkube.plugin.flags import ADDRESS, BOOL, CIDRS, DURATION, INT, LIST, STRING, Flag, section, unbuilt

GENERIC = section(
    "Generic",
    Flag("controllers", LIST, "*", "controllers to run: * for all on by default, foo enables, -foo disables"),
    Flag("use-service-account-credentials", BOOL, False, "each controller acts as a service account of its own"),
    Flag("cluster-name", STRING, "kubernetes", "prefix of instances"),
    Flag("cloud-provider", STRING, "", "cloud provider plugin"),
    Flag("cloud-config", STRING, "", "its configuration file"),
    Flag("allocate-node-cidrs", BOOL, False, "give each node a range of pod addresses"),
    Flag("cluster-cidr", CIDRS, "", "pod addresses of the cluster"),
    *unbuilt(
        Flag("min-resync-period", DURATION, "12h0m0s", "no effect: caches follow every change, and resync nothing"),
        Flag("node-sync-period", DURATION, "10s", "no effect: nodes are read from the cloud as they come"),
    ),
    Flag("controller-start-interval", DURATION, "0s", "pause between starts of controllers"),
)


def manager_flags(secure_port: int, *own: Sequence[Flag]) -> tuple[Flag, ...]:
    """Return the flags of a server with that HTTPS port, with those of its own after the general ones."""
    return (
        *GENERIC,
        *(flag for flags in own for flag in flags),
        *section(
            "Secure serving",
            Flag("bind-address", ADDRESS, "0.0.0.0", "address of the HTTPS port"),
            Flag("secure-port", INT, secure_port, "HTTPS port; 0 for none"),
        ),
        *SECURE_SERVING,
        *section(
            "Insecure serving",
            Flag("address", ADDRESS, "127.0.0.1", "address of the HTTP port", deprecated="use --bind-address"),
            Flag("port", INT, 0, "HTTP port for health and metrics; 0 for none", deprecated="use --secure-port"),
        ),
        *delegated_auth(tolerant=False),
        *DELEGATED,
        *section("Accepted from Kubernetes' command lines", *ACCEPTED, *WITHOUT_HTTP2),
        *API_CLIENT,
        *LEADER_ELECTION,
        *PROFILING,
        *COMPONENT_BASE,
        *GLOBAL,
    )
