"""What the controllers of CSI drivers share: which drivers there are, what they can do, and the secrets for calls.

In other clusters these controllers are containers beside each driver (external-provisioner, external-attacher …); here
they are controllers of the manager, for all drivers at once.
"""

from hyperkube_lib.csi_controllers.claims import bound_volume, mutable_parameters
from hyperkube_lib.csi_controllers.connections import Driver, Drivers, DriverSettings
from hyperkube_lib.csi_controllers.controller import RETRY, CsiController
from hyperkube_lib.csi_controllers.secrets import SecretKind, resolve_template, secret_data, secret_reference

__all__ = [
    "RETRY",
    "CsiController",
    "Driver",
    "DriverSettings",
    "Drivers",
    "SecretKind",
    "bound_volume",
    "mutable_parameters",
    "resolve_template",
    "secret_data",
    "secret_reference",
]
