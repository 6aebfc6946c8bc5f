"""What the cloud controller manager is, and its options.

Its controllers are those of the family ``cloud_controller``: a distribution lists its controller there beside the family
``controller`` when it only needs the API and a cloud.

Sources: kubernetes ``staging/src/k8s.io/cloud-provider/options/options.go``, ``app/core.go`` there.
"""

from hyperkube_lib.controller_manager.flags import manager_flags
from hyperkube_lib.controller_manager.options import ManagerSpec

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import component
from hyperkube.plugin.flags import BOOL, DURATION, Flag, FlagValues, section, unbuilt

EXTERNAL = "external"

FLAGS = manager_flags(
    10258,
    section(
        "Generic",
        *unbuilt(
            Flag("allow-untagged-cloud", BOOL, False, "no effect: each provider says whether it needs a cluster id"),
            Flag("node-status-update-frequency", DURATION, "5m0s", "no effect: nodes are asked about as they change"),
        ),
    ),
)


def check(values: FlagValues) -> None:
    """Insist on a cloud.

    Raises:
        UsageError: there is none, or it is said to be somewhere else.
    """
    if not values["cloud-provider"]:
        raise UsageError("--cloud-provider cannot be empty")
    if values["cloud-provider"] == EXTERNAL:
        raise UsageError(
            "--cloud-provider=external tells other servers that this one talks to the cloud: name the provider here"
        )


MANAGER = ManagerSpec(
    name="cloud-controller-manager",
    family="cloud_controller",
    families=("cloud_controller", "cloud"),
    flags=FLAGS,
    user=component("system:cloud-controller-manager"),
    configuration="cloudcontrollermanager.config.k8s.io",
    check=check,
)
