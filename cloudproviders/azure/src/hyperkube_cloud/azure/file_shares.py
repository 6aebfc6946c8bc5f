"""Azure Files: shares in storage accounts, which are found by what a class asks for, or made.

A share is named after its volume and an account after what is asked of it, so whatever was interrupted is found again
and claims at the same time make one account. Accounts stay when their last share goes, as upstream keeps them.

Source: kubernetes ``pkg/volume/azure_file/azure_provision.go``; cloud-provider-azure
``pkg/provider/azure_storageaccount.go``; azurefile-csi-driver ``pkg/azurefile/controllerserver.go``; the published
specification of Microsoft.Storage (2023-05-01).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from hyperkube_cloud.azure.arm import STORAGE, Arm, properties, same
from hyperkube_cloud.azure.config import AzureConfig
from hyperkube_cloud.azure.snapshots import GIB
from hyperkube_cloud.azure.tags import parsed_tags
from hyperkube_lib.cloud_provider.rest import Json, Missing

from hyperkube.hookspecs.cloud import (
    CloudFailed,
    CloudUnavailable,
    DiskRequest,
    FileShare,
    FileShareNotFound,
    RetryLater,
)
from hyperkube.machinery.dataclass import dataclass

SKUS: Final = (
    "Standard_LRS", "Standard_GRS", "Standard_RAGRS", "Standard_ZRS", "Standard_GZRS", "Standard_RAGZRS", "Premium_LRS",
    "Premium_ZRS",
)  # fmt: skip
TAGS: Final = {"k8s-azure-created-by": "azure"}
SKIP: Final = "skip-matching"
"""The tag of accounts that are left alone."""
ACCOUNT_NAME, ACCOUNT_KEY = "azurestorageaccountname", "azurestorageaccountkey"
ENDPOINT_SUFFIX: Final = "azurestorageendpointsuffix"
"""Beside upstream's two keys of the Secret, and only in clouds other than the public one: nodes have no other word."""
_SUFFIXES: Final = {
    "https://management.chinacloudapi.cn": "core.chinacloudapi.cn",
    "https://management.usgovcloudapi.net": "core.usgovcloudapi.net",
}
_LONGEST: Final = 63
_LEAST_PREMIUM: Final = 100
_AGAIN: Final = 10.0
_ACCOUNT: Final = re.compile(r"[a-z0-9]{3,24}")
_GROUP: Final = re.compile(r"[-\w.()]{0,89}[-\w()]", re.ASCII)
_SHARE: Final = re.compile(r"(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareOptions:
    """What a StorageClass says; what is empty is for us to choose.

    Attributes:
        sku: of the account.
        account: its name.
        location: where it is.
        group: its resource group.
        share: the share's name.
    """

    sku: str = ""
    account: str = ""
    location: str = ""
    group: str = ""
    share: str = ""

    @property
    def is_premium(self) -> bool:
        """Whether the account is one for files alone, on solid state disks."""
        return self.sku.startswith("Premium")

    @property
    def kind(self) -> str:
        """The kind of account."""
        return "FileStorage" if self.is_premium else "StorageV2"


def share_name(volume: str) -> str:
    """Return the name of a PersistentVolume's share: letters in lower case, no two hyphens in a row."""
    return re.sub("-+", "-", volume.lower()[:_LONGEST]).strip("-")


def share_options(parameters: Mapping[str, str]) -> ShareOptions:
    """Return what the parameters of a class, with lower-case keys, say.

    Raises:
        CloudFailed: a parameter is unknown, or Azure or we do not have what it names.
    """
    told: dict[str, str] = {}
    for key, value in parameters.items():
        if key == "protocol":
            if value.lower() not in {"", "smb"}:
                raise CloudFailed(f"azureFile - protocol {value!r} is not supported: shares are mounted by 'smb'")
        elif key not in _FIELDS:
            raise CloudFailed(f"azureFile - invalid parameter {key!r} in storage class")
        elif value:
            told[_FIELDS[key]] = value
    for name, pattern in (("account", _ACCOUNT), ("group", _GROUP), ("share", _SHARE)):
        if name in told and not pattern.fullmatch(told[name]):
            raise CloudFailed(f"azureFile - {told[name]!r} cannot be the name of a {_WORDS[name]}")
    if "sku" in told:
        sku = next((each for each in SKUS if same(each, told["sku"])), None)
        if sku is None:
            raise CloudFailed(f"azureFile - {told['sku']} is not a supported skuName. Supported values are {SKUS}")
        told["sku"] = sku
    return ShareOptions(**told)


_FIELDS: Final = {
    "skuname": "sku",
    "storageaccounttype": "sku",
    "storageaccount": "account",
    "location": "location",
    "resourcegroup": "group",
    "sharename": "share",
}
_WORDS: Final = {"account": "storage account", "group": "resource group", "share": "share"}


class AzureFileShares:
    """Shares of files; implements `hyperkube.hookspecs.cloud.FileShares`. An id is ``GROUP#ACCOUNT#SHARE#``."""

    def __init__(self, arm: Arm, config: AzureConfig) -> None:
        self._arm, self._config = arm, config

    def create(self, request: DiskRequest) -> FileShare:
        """Make a share, or return the one of that name."""
        told = share_options(request.parameters)
        group, name = told.group or self._config.resource_group, told.share or share_name(request.name)
        account = told.account or self._account(told, group, name)
        ident = self._share(group, account, name)
        held = self._arm.find(ident)
        if held is None:
            size = max(-(-request.size // GIB), _LEAST_PREMIUM if told.is_premium else 1)
            body: Json = {"properties": {"shareQuota": size, "enabledProtocols": "SMB"}}
            self._arm.put(ident, body, at_once=True)
        else:
            size = _quota(held)
        return FileShare(
            id=f"{group}#{account}#{name}#", size=size * GIB, credentials=self._credentials(group, account)
        )

    def delete(self, share_id: str) -> None:
        """Delete a share; no error if it is gone. Its account stays.

        Raises:
            CloudFailed: what is said to be its account cannot be one.
        """
        if ident := self._known(share_id):
            self._arm.delete(ident)

    def resize(self, share_id: str, size: int) -> int:
        """Grow a share to whole gibibytes and return its size."""
        ident = self._known(share_id)
        held = self._arm.find(ident) if ident else None
        if held is None:
            raise FileShareNotFound(f"share {share_id!r} not found")
        has, wanted = _quota(held), -(-size // GIB)
        if has < wanted:
            self._arm.put(ident, {"properties": {"shareQuota": wanted}}, method="PATCH", at_once=True)
        return max(has, wanted) * GIB

    def _share(self, group: str, account: str, name: str) -> str:
        return self._arm.id(STORAGE, f"storageAccounts/{account}/fileServices/default/shares/{name}", group)

    def _known(self, share_id: str) -> str:
        """Return a share's id in Azure's words; empty for what never was the id of a share."""
        group, account, name = [*share_id.split("#"), "", ""][:3]
        if not account or not name:
            return ""
        for what, pattern, value in (("account", _ACCOUNT, account), ("group", _GROUP, group or "-"),
                                     ("share", _SHARE, name)):  # fmt: skip
            if not pattern.fullmatch(value):
                raise CloudFailed(f"share {share_id!r}: {value!r} cannot be the name of a {_WORDS[what]}")
        return self._share(group or self._config.resource_group, account, name)

    def _account(self, told: ShareOptions, group: str, name: str) -> str:
        """Return the account for a share: the one that has it already, else one that fits, else a new one."""
        collection = self._arm.id(STORAGE, "storageAccounts", group)
        location = told.location or self._config.location
        held = sorted(self._arm.listed(collection), key=lambda each: str(each.get("name")))
        fitting = [str(each["name"]) for each in held if _fits(each, told, location)]
        for account in fitting:
            if self._arm.find(self._share(group, account, name)) is not None:
                return account
        if fitting:
            return fitting[0]
        sku = told.sku or SKUS[0]
        text = f"{self._config.subscription_id}/{group}/{location}/{sku}".lower()
        made = f"f{hashlib.sha256(text.encode()).hexdigest()[:23]}"
        there = next((each for each in held if same(each.get("name"), made)), None)
        if there is None:
            self._make(f"{collection}/{made}", told.kind, sku, location)
        elif not _fits(self._arm.settled(str(there["id"]), there), told, location):
            raise CloudFailed(f"storage account {made!r} is not for volumes any more: name another one in the class")
        return made

    def _make(self, ident: str, kind: str, sku: str, location: str) -> None:
        body: Json = {
            "sku": {"name": sku},
            "kind": kind,
            "location": location,
            "tags": {**parsed_tags(self._config.tags), **TAGS},
            "properties": {
                "supportsHttpsTrafficOnly": True,
                "minimumTlsVersion": "TLS1_2",
                "allowBlobPublicAccess": False,
            },
        }
        try:
            self._arm.put(ident, body)
        except Missing as error:  # one that is just being made is not shown at once
            raise RetryLater(f"storage account {ident!r} is still being made", _AGAIN) from error

    def _credentials(self, group: str, account: str) -> dict[str, str]:
        """Return the data of a Secret that mounts an account's shares.

        Raises:
            CloudFailed: the account gives no key. No error holds what was answered.
        """
        rows = self._arm.act(self._arm.id(STORAGE, f"storageAccounts/{account}/listKeys", group)).get("keys")
        found = [row.get("value") for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        key = next((value for value in found if value and isinstance(value, str)), "")
        if not key:
            raise CloudFailed(f"storage account {account!r} shows no key")
        suffix = _SUFFIXES.get(self._config.endpoint)
        return {ACCOUNT_NAME: account, ACCOUNT_KEY: key, **({ENDPOINT_SUFFIX: suffix} if suffix else {})}


def _fits(account: Json, told: ShareOptions, location: str) -> bool:
    """Tell whether a share of that class may be put into an account.

    Source: cloud-provider-azure ``pkg/provider/azure_storageaccount.go`` (getStorageAccounts).
    """
    held, sku = properties(account), account.get("sku")
    return (
        _ACCOUNT.fullmatch(str(account.get("name"))) is not None
        and held.get("provisioningState") == "Succeeded"
        and same(account.get("kind"), told.kind)
        and same(account.get("location"), location)
        and (not told.sku or (isinstance(sku, dict) and same(sku.get("name"), told.sku)))
        and SKIP not in (account.get("tags") or {})
        and held.get("allowSharedKeyAccess") is not False
        and not any(held.get(key) for key in ("isHnsEnabled", "isNfsV3Enabled", "privateEndpointConnections"))
    )


def _quota(held: Json) -> int:
    """Return how many gibibytes a share may have."""
    found = properties(held).get("shareQuota")
    if not isinstance(found, int):
        raise CloudUnavailable(f"share {held['id']!r} was answered without its quota")
    return found
