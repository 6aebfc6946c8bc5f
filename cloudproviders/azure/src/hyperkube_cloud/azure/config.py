"""The file of ``--cloud-config``: ``azure.json``, or the same in YAML, as Kubernetes' provider reads it.

Source: cloud-provider-azure ``pkg/provider/config/config.go``, ``pkg/azclient`` (ARMClientConfig, AzureAuthConfig).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hyperkube_cloud.azure.balancer_configs import KEY as BALANCERS
from hyperkube_cloud.azure.balancer_configs import BalancerConfig, read_balancers

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record

ENDPOINTS: Final = {
    "": "https://management.azure.com",
    "AZURECLOUD": "https://management.azure.com",
    "AZUREPUBLICCLOUD": "https://management.azure.com",
    "AZURECHINACLOUD": "https://management.chinacloudapi.cn",
    "AZUREUSGOVERNMENT": "https://management.usgovcloudapi.net",
    "AZUREUSGOVERNMENTCLOUD": "https://management.usgovcloudapi.net",
}
AUTHORITIES: Final = {
    "https://management.chinacloudapi.cn": "https://login.chinacloudapi.cn",
    "https://management.usgovcloudapi.net": "https://login.microsoftonline.us",
}
"""Where tokens come from, by the API's address; else from Azure's public login."""
_WITHOUT_EFFECT: Final = re.compile(
    r"cloudProvider(Backoff|RateLimit).*|.*(TTLInSeconds|CacheTTL)|useInstanceMetadata|userAgent|identitySystem"
    r"|enableVmssFlexNodes|disableAvailabilitySetNodes|cloudConfigType|disableAPICallCache|.*RateLimit"
    r"|routeUpdateWaitingInSeconds|vnetName|enableMigrateToIPBasedBackendPoolAPI|loadBalancerBackendPoolUpdateIntervalInSeconds|vmType|maximumLoadBalancerRuleCount|securityGroupType"
)
"""Keys that spare an API which the hosts spare already, or that say what is found out here."""
_POOL_TYPES: Final = frozenset({"", "nodeipconfiguration", "nodeip", "podip"})
"""The provider of Kubernetes takes ``podIP`` as well, for ``nodeIPConfiguration``."""
_REPLACED: Final = "enableMultipleStandardLoadBalancers"
_BALANCERS: Final = "multiple_standard_load_balancer_configurations"


class AzureConfig(Record):
    """What the file says; names are those of the file in snake case.

    Attributes:
        aad_client_secret, aad_client_cert_path: of an application; else `use_managed_identity_extension` or
            `use_federated_workload_identity_extension`.
        resource_group: of the machines, and of all other things that have no group of their own here.
        subnet_name: of internal balancers that name none.
        tags: ``a=b,c=d`` on what is made.
        load_balancer_name: of the balancers in place of the cluster's name.
        private_link_service_resource_group: of private link services that name none; without it `resource_group`.
        multiple_standard_load_balancer_configurations: several balancers in place of one.
        pre_configured_backend_pools: ``internal``, ``external`` or ``all``: whose machines others put into the pool.
    """

    cloud: str = ""
    tenant_id: str = ""
    subscription_id: str = ""
    aad_client_id: str = ""
    aad_client_secret: str = ""
    aad_client_cert_path: str = ""
    aad_client_cert_password: str = ""
    aad_federated_token_file: str = ""
    use_managed_identity_extension: bool = False
    user_assigned_identity_id: str = ""
    use_federated_workload_identity_extension: bool = False
    resource_manager_endpoint: str = ""
    location: str = ""
    resource_group: str = ""
    vnet_name: str = ""
    vnet_resource_group: str = ""
    subnet_name: str = ""
    security_group_name: str = ""
    security_group_resource_group: str = ""
    route_table_name: str = ""
    route_table_resource_group: str = ""
    primary_availability_set_name: str = ""
    primary_scale_set_name: str = ""
    load_balancer_sku: str = "standard"
    load_balancer_name: str = ""
    load_balancer_resource_group: str = ""
    private_link_service_resource_group: str = ""
    pre_configured_backend_pool_load_balancer_types: str = ""
    load_balancer_backend_pool_configuration_type: str = "nodeIPConfiguration"
    multiple_standard_load_balancer_configurations: tuple[BalancerConfig, ...] = ()
    exclude_master_from_standard_lb: bool = True
    disable_outbound_snat: bool = False
    tags: str = ""

    def __repr__(self) -> str:
        return f"AzureConfig(subscription_id={self.subscription_id!r}, resource_group={self.resource_group!r})"

    @property
    def endpoint(self) -> str:
        """Where the API is, without a slash at the end."""
        return (self.resource_manager_endpoint or ENDPOINTS[self.cloud.upper()]).rstrip("/")

    @property
    def lists_addresses(self) -> bool:
        """Whether pools list the nodes' addresses, and interfaces say nothing of them."""
        return self.load_balancer_backend_pool_configuration_type.lower() == "nodeip"

    @property
    def authority(self) -> str:
        """Where tokens come from."""
        return AUTHORITIES.get(self.endpoint, "https://login.microsoftonline.com")


def read_config(path: str) -> AzureConfig:
    """Return what a file says; no file says nothing.

    Raises:
        UsageError: it cannot be read, has an unknown key or what is not there any more: one line that names the file.
    """
    if not path:
        return AzureConfig()
    import yaml

    try:
        text = Path(path).read_bytes()
        told = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  both are safe
        return _checked(_fields(told))
    except (OSError, ValueError, yaml.YAMLError) as error:
        problem = str(error).splitlines()[0] if isinstance(error, yaml.YAMLError) else str(error)
        raise UsageError(f"--cloud-config={path!r}: {problem}") from error


def _fields(told: Any) -> AzureConfig:
    if not isinstance(told, Mapping):
        raise ValueError("is no object of azure.json")  # noqa: TRY004 - a mistake in a file, not in a program
    by_key = {name.replace("_", ""): name for name in AzureConfig.field_names}
    given: dict[str, Any] = {}
    for key, value in told.items():
        name = by_key.get(str(key).lower())
        if str(key) == _REPLACED and value:
            raise ValueError(f"{key} is replaced by {BALANCERS}")
        if name is None:
            if not _WITHOUT_EFFECT.fullmatch(str(key)):
                raise ValueError(f"unknown key {key!r}")
            continue
        given[name] = read_balancers(value) if name == _BALANCERS else _as(getattr(AzureConfig, name), key, value)
    return AzureConfig(**given)


def _as(default: object, key: str, value: Any) -> Any:
    if value is None:
        return default
    if isinstance(default, bool):
        if isinstance(value, bool) or str(value).lower() in {"true", "false"}:
            return value if isinstance(value, bool) else value.lower() == "true"
        raise ValueError(f"{key}: {value!r} is neither true nor false")
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{key}: {type(value).__name__} is no text")


def _checked(config: AzureConfig) -> AzureConfig:
    if not config.resource_manager_endpoint and config.cloud.upper() not in ENDPOINTS:
        raise ValueError(f"cloud {config.cloud!r} is unknown: give resourceManagerEndpoint")
    if config.load_balancer_sku.lower() != "standard":
        raise ValueError("loadBalancerSku has to be standard: Azure has no basic load balancers any more")
    if (kind := config.load_balancer_backend_pool_configuration_type).lower() not in _POOL_TYPES:
        known = "supported values are nodeIPConfiguration, nodeIP, podIP (which is nodeIPConfiguration)"
        raise ValueError(f"loadBalancerBackendPoolConfigurationType {kind} is not supported, {known}")
    if config.multiple_standard_load_balancer_configurations and not config.lists_addresses:
        kind = config.load_balancer_backend_pool_configuration_type
        raise ValueError(f"multiple standard load balancers cannot be used with backend pool type {kind}")
    return config
