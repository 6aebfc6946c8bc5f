"""What the cloud controller manager is, beside other servers that run controllers.

Its controllers are those of the family ``cloud_controller``: a distribution lists its controller there beside the
family ``controller`` when it needs no more than the API and a cloud.

Source: kubernetes ``staging/src/k8s.io/cloud-provider/app/core.go``.
"""

from hyperkube_host.cloud_controller_manager.flags import FLAGS
from hyperkube_lib.controller_manager.options import ManagerSpec

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import component
from hyperkube.plugin.flags import FlagValues

EXTERNAL = "external"


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
