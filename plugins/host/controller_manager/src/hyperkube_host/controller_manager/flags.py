"""Options of the controller manager: Kubernetes 1.36's, and those of the 1.0-1.15 line."""

from hyperkube.command.common_flags import (
    API_CLIENT,
    GLOBAL,
    LEADER_ELECTION,
    PROFILING,
    SECURE_SERVING,
    delegated_auth,
)
from hyperkube.plugin.flags import ADDRESS, BOOL, CIDRS, DURATION, FLOAT, INT, LIST, STRING, Flag, section, unbuilt

NAME = "kube-controller-manager"
FAMILIES = ("controller", "cloud", "volume")
"""Whose plugins the server loads, and whose flags it has."""

FLAGS = (
    *section(
        "Generic",
        Flag("controllers", LIST, "*", "controllers to run: * for all on by default, foo enables, -foo disables"),
        Flag("use-service-account-credentials", BOOL, False, "each controller acts as a service account of its own"),
        Flag("allocate-node-cidrs", BOOL, False, "give each node a range of pod addresses"),
        Flag("cluster-cidr", CIDRS, "", "pod addresses of the cluster"),
        Flag("node-cidr-mask-size", INT, 0, "mask of a node's range; 0 for 24 with IPv4 and 64 with IPv6"),
        Flag("node-cidr-mask-size-ipv4", INT, 0, "the same of IPv4 ranges in a cluster with both families"),
        Flag("node-cidr-mask-size-ipv6", INT, 0, "the same of IPv6 ranges in a cluster with both families"),
        Flag(
            "legacy-service-account-token-clean-up-period",
            DURATION,
            "8760h0m0s",
            "how long an unused service-account token in a secret stays, and stays marked before it is deleted",
        ),
        Flag("cluster-name", STRING, "kubernetes", "prefix of instances"),
        Flag("cloud-provider", STRING, "", "cloud provider plugin"),
        Flag("cloud-config", STRING, "", "its configuration file"),
        *unbuilt(
            Flag("cidr-allocator-type", STRING, "RangeAllocator", "who allocates pod ranges"),
            Flag("configure-cloud-routes", BOOL, True, "make routes for pod ranges"),
            Flag("controller-start-interval", DURATION, "0s", "pause between starts of controllers"),
            Flag("external-cloud-volume-plugin", STRING, "", "volume plugin of an external cloud"),
            Flag("min-resync-period", DURATION, "12h0m0s", "least time between two resyncs"),
            Flag("route-reconciliation-period", DURATION, "10s", "how often routes are compared"),
            Flag("register-retry-count", INT, 10, "retries of a node's registration"),
            Flag("node-sync-period", DURATION, "10s", "how often nodes are read from the cloud"),
            Flag("enable-horizontal-pod-autoscaler", BOOL, True, "run the autoscaler"),
        ),
    ),
    *section(
        "Secure serving",
        Flag("bind-address", ADDRESS, "0.0.0.0", "address of the HTTPS port"),
        Flag("secure-port", INT, 10257, "HTTPS port; 0 for none"),
    ),
    *SECURE_SERVING,
    *section(
        "Insecure serving",
        Flag("address", ADDRESS, "127.0.0.1", "address of the HTTP port", deprecated="use --bind-address"),
        Flag("port", INT, 0, "HTTP port for health and metrics; 0 for none", deprecated="use --secure-port"),
    ),
    *section(
        "Service account controller",
        Flag("service-account-private-key-file", STRING, "", "key that signs service-account tokens"),
        Flag("root-ca-file", STRING, "", "CA that is published into every namespace"),
        Flag("concurrent-serviceaccount-token-syncs", INT, 5, "tokens synced at once", accepted=True),
    ),
    *section(
        "Node lifecycle controller",
        Flag("node-monitor-grace-period", DURATION, "40s", "silence before a node is unhealthy"),
        Flag("node-startup-grace-period", DURATION, "60s", "the same while it starts"),
        Flag("node-monitor-period", DURATION, "5s", "how often nodes are looked at"),
        *unbuilt(
            Flag("pod-eviction-timeout", DURATION, "5m0s", "grace before pods of a failed node are deleted"),
            Flag("node-eviction-rate", FLOAT, 0.1, "nodes per second emptied when a zone is healthy"),
            Flag("secondary-node-eviction-rate", FLOAT, 0.01, "nodes per second emptied when it is not"),
            Flag("unhealthy-zone-threshold", FLOAT, 0.55, "share of failed nodes that makes a zone unhealthy"),
            Flag("large-cluster-size-threshold", INT, 50, "nodes from which a cluster counts as large"),
            Flag("deleting-pods-qps", FLOAT, 0.1, "nodes per second being emptied"),
            Flag("deleting-pods-burst", INT, 10, "burst of it"),
        ),
    ),
    *section(
        "Horizontal pod autoscaler",
        Flag("horizontal-pod-autoscaler-sync-period", DURATION, "15s", "how often autoscalers look at their targets"),
    ),
    *section(
        "Pod garbage collector",
        Flag("terminated-pod-gc-threshold", INT, 12500, "ended pods kept; 0 for no limit"),
    ),
    *section(
        "Concurrency and periods",
        *unbuilt(
            Flag("concurrent-deployment-syncs", INT, 5, "deployments synced at once"),
            Flag("concurrent-endpoint-syncs", INT, 5, "endpoints synced at once"),
            Flag("concurrent-gc-syncs", INT, 20, "garbage collector workers"),
            Flag("concurrent-job-syncs", INT, 5, "jobs synced at once"),
            Flag("concurrent-namespace-syncs", INT, 10, "namespaces synced at once"),
            Flag("concurrent-rc-syncs", INT, 5, "replication controllers synced at once"),
            Flag("concurrent-replicaset-syncs", INT, 5, "replica sets synced at once"),
            Flag("concurrent-resource-quota-syncs", INT, 5, "quotas synced at once"),
            Flag("concurrent-service-endpoint-syncs", INT, 5, "services synced to slices at once"),
            Flag("deployment-controller-sync-period", DURATION, "30s", "period of deployment syncs"),
            Flag("enable-garbage-collector", BOOL, True, "run the garbage collector"),
            Flag("namespace-sync-period", DURATION, "5m0s", "period of namespace syncs"),
            Flag("pvclaimbinder-sync-period", DURATION, "15s", "period of claim binding"),
            Flag("resource-quota-sync-period", DURATION, "5m0s", "period of quota syncs"),
            Flag("service-sync-period", DURATION, "5m0s", "period of load-balancer syncs"),
        ),
    ),
    *section(
        "Signing",
        Flag("cluster-signing-cert-file", STRING, "", "CA that signs certificate requests of all signers"),
        Flag("cluster-signing-key-file", STRING, "", "its private key"),
        Flag("cluster-signing-kubelet-serving-cert-file", STRING, "", "CA of kubelets' serving certificates"),
        Flag("cluster-signing-kubelet-serving-key-file", STRING, "", "its private key"),
        Flag("cluster-signing-kubelet-client-cert-file", STRING, "", "CA of kubelets' client certificates"),
        Flag("cluster-signing-kubelet-client-key-file", STRING, "", "its private key"),
        Flag("cluster-signing-kube-apiserver-client-cert-file", STRING, "", "CA of users' certificates"),
        Flag("cluster-signing-kube-apiserver-client-key-file", STRING, "", "its private key"),
        Flag("cluster-signing-legacy-unknown-cert-file", STRING, "", "CA of the signer kubernetes.io/legacy-unknown"),
        Flag("cluster-signing-legacy-unknown-key-file", STRING, "", "its private key"),
        Flag("cluster-signing-duration", DURATION, "8760h0m0s", "longest life of signed certificates"),
    ),
    *delegated_auth(tolerant=False),
    *API_CLIENT,
    *LEADER_ELECTION,
    *PROFILING,
    *GLOBAL,
)
