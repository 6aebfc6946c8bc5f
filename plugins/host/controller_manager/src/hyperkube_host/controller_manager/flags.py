"""What the controller manager is, and its options: Kubernetes 1.36's, and those of the 1.0-1.15 line."""

from hyperkube_lib.controller_manager.flags import manager_flags
from hyperkube_lib.controller_manager.options import ManagerSpec

from hyperkube.machinery.users import component
from hyperkube.plugin.flags import BOOL, INT, STRING, Flag, section, unbuilt

FLAGS = manager_flags(
    10257,
    section(
        "Generic",
        Flag("enable-garbage-collector", BOOL, True, "run the controller garbagecollector"),
        Flag(
            "enable-horizontal-pod-autoscaler",
            BOOL,
            True,
            "run the controller horizontalpodautoscaling",
            deprecated="use --controllers=*,-horizontalpodautoscaling",
        ),
        *unbuilt(Flag("register-retry-count", INT, 10, "no effect: kubelets register their nodes")),
    ),
    section(
        "Service account controller",
        Flag("root-ca-file", STRING, "", "CA that is published into every namespace"),
    ),
)

MANAGER = ManagerSpec(
    name="kube-controller-manager",
    family="controller",
    families=("controller", "cloud", "volume"),
    flags=FLAGS,
    user=component("system:kube-controller-manager"),
    configuration="kubecontrollermanager.config.k8s.io",
    switches={
        "enable-garbage-collector": "garbagecollector",
        "enable-horizontal-pod-autoscaler": "horizontalpodautoscaling",
    },
)
"""The server; its controllers are those of the family ``controller``, which work with clouds and volumes."""
