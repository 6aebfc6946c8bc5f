"""Options of the scheduler: Kubernetes 1.36's, and those of the 1.0-1.22 line."""

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
from hyperkube.plugin.flags import ADDRESS, BOOL, DURATION, FLOAT, INT, STRING, Flag, section

NAME = "kube-scheduler"
FAMILIES = ("scheduler",)
"""Whose plugins the server loads, and whose flags it has."""

FLAGS = (
    *section(
        "Scheduling",
        Flag("algorithm-provider", STRING, "", "named set of scheduling plugins; the bundle's unless given"),
        Flag("scheduler-name", STRING, "default-scheduler", "pods with this spec.schedulerName are scheduled"),
        Flag("config", STRING, "", "KubeSchedulerConfiguration file; read again when it changes"),
        Flag("policy-config-file", STRING, "", "1.x policy file with predicates and priorities; likewise"),
        Flag("policy-configmap", STRING, "", "ConfigMap that holds the policy, under policy.cfg"),
        Flag("policy-configmap-namespace", STRING, "kube-system", "its namespace"),
        Flag("use-legacy-policy-config", BOOL, False, "prefer the policy file to the ConfigMap"),
        Flag("hard-pod-affinity-symmetric-weight", INT, 1, "weight of the affinity that a required one implies"),
        Flag(
            "pod-max-in-unschedulable-pods-duration",
            DURATION,
            "5m0s",
            "longest time a pod waits for a change that may help it; then it is scheduled again",
        ),
        Flag("explanations-file", STRING, "", "keep the latest decisions here, for `hyperkube why` after a restart"),
        Flag("write-config-to", STRING, "", "write what the flags come down to to this file, and exit"),
        Flag("bind-pods-qps", FLOAT, 15.0, "bindings per second; limited only if this or the burst is given"),
        Flag("bind-pods-burst", INT, 20, "bindings at once before that limit holds"),
    ),
    *section(
        "Secure serving",
        Flag("bind-address", ADDRESS, "0.0.0.0", "address of the HTTPS port"),
        Flag("secure-port", INT, 10259, "HTTPS port; 0 for none"),
    ),
    *SECURE_SERVING,
    *section(
        "Insecure serving",
        Flag("address", ADDRESS, "127.0.0.1", "address of the HTTP port", deprecated="use --bind-address"),
        Flag("port", INT, 0, "HTTP port for health and metrics; 0 for none", deprecated="use --secure-port"),
    ),
    *delegated_auth(tolerant=True),
    *DELEGATED,
    *section("Accepted from Kubernetes' command lines", *ACCEPTED, *WITHOUT_HTTP2),
    *API_CLIENT,
    *LEADER_ELECTION,
    *PROFILING,
    *COMPONENT_BASE,
    *GLOBAL,
)
