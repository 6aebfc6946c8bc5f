"""What the controller manager is, beside other servers that run controllers."""

from hyperkube_host.controller_manager.flags import FLAGS
from hyperkube_lib.controller_manager.options import ManagerSpec

from hyperkube.machinery.users import component

MANAGER = ManagerSpec(
    name="kube-controller-manager",
    family="controller",
    families=("controller", "cloud", "csi", "volume"),
    flags=FLAGS,
    user=component("system:kube-controller-manager"),
    configuration="kubecontrollermanager.config.k8s.io",
    switches={
        "enable-garbage-collector": "garbagecollector",
        "enable-horizontal-pod-autoscaler": "horizontalpodautoscaling",
    },
)
"""The server; its controllers are those of the family ``controller``, which work with clouds and volumes."""
