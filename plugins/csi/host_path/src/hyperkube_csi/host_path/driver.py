"""The driver; what answers the calls is loaded with the first of them.

A cluster may have the driver installed and no folder for it, and one that has a folder may have no volume there.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from hyperkube_csi.host_path.settings import NAME, HostPathSettings
from hyperkube_lib.csi import CsiDriver

if TYPE_CHECKING:
    from hyperkube_csi.host_path.services import HostPathServices


class HostPath(CsiDriver):
    """The driver; its services answer the calls."""

    driver_name = NAME

    @cached_property
    def on_host(self) -> HostPathServices:
        """The services; only of a driver that is configured."""
        from hyperkube_csi.host_path.services import HostPathServices

        return HostPathServices(self.context, self.settings(HostPathSettings))

    def is_configured(self) -> bool:
        """Tell whether there is a folder."""
        return bool(self.settings(HostPathSettings).dir)

    def call(self, service: str, method: str, request: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of one of the services."""
        return self.on_host.call(service, method, request)
