"""A server as the tests run it: the controllers that are installed, two of which flags of their own switch off."""

from hyperkube_lib.controller_manager.flags import manager_flags
from hyperkube_lib.controller_manager.options import ManagerSpec

from hyperkube.machinery.users import component
from hyperkube.plugin.flags import BOOL, Flag, section

SWITCHES = {
    "enable-garbage-collector": "garbagecollector",
    "enable-horizontal-pod-autoscaler": "horizontalpodautoscaling",
}
MANAGER = ManagerSpec(
    name="kube-controller-manager",
    family="controller",
    families=("controller",),
    flags=manager_flags(10257, section("Generic", *(Flag(name, BOOL, True, "switches") for name in SWITCHES))),
    user=component("system:kube-controller-manager"),
    configuration="kubecontrollermanager.config.k8s.io",
    switches=SWITCHES,
)
