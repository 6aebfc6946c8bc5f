"""A vCenter as a double plays it, and the provider that talks to it."""

from __future__ import annotations

from hyperkube_testing.beside import module_beside
from hyperkube_testing.provider_fixtures import provider_fixtures

module_beside(__file__, "wire")
module_beside(__file__, "inventory")
vmware = module_beside(__file__, "vmware")
module_beside(__file__, "token_service")
double, built, cloud = provider_fixtures(vmware, vmware.furnished)
