"""Azure's storage accounts and shares of files, in the shapes of Microsoft.Storage's published specification (2023-05-01).

A field that it does not have is refused. An account is made while it is looked at: the first answer is empty, the next
one says ``Creating``; a share is there at once, and has no ``provisioningState``. `key` is the account's.
"""

from __future__ import annotations

import copy
import re

from azure_microsoft import GROUP, Microsoft, error

KEY = "c2VjcmV0LWFjY291bnQta2V5LW9mLWF6dXJl"
ACCOUNT = {"sku", "kind", "location", "tags", "properties", "identity", "zones", "extendedLocation"}
ACCOUNT_PROPERTIES = {
    "supportsHttpsTrafficOnly",
    "minimumTlsVersion",
    "allowBlobPublicAccess",
    "allowSharedKeyAccess",
    "networkAcls",
    "isHnsEnabled",
    "isNfsV3Enabled",
    "largeFileSharesState",
    "accessTier",
    "encryption",
}
SHARE_PROPERTIES = {"shareQuota", "enabledProtocols", "metadata", "rootSquash", "accessTier", "signedIdentifiers"}
_PATH = re.compile(
    r"/subscriptions/sub/resourceGroups/(?P<group>[^/]+)/providers/Microsoft\.Storage/storageAccounts"
    r"(?:/(?P<account>[^/]+)(?:/(?P<action>listKeys)|/fileServices/default/shares/(?P<share>[^/]+))?)?"
)


class MicrosoftStorage(Microsoft):
    """Two resource groups with accounts; `accounts` and `shares` are id → resource."""

    groups = frozenset({GROUP, "data"})

    def __init__(self, page=2):
        super().__init__(page)
        self.accounts, self.shares = {}, {}
        self.taken, self.keys = set(), [{"keyName": "key1", "permissions": "FULL", "value": KEY}]

    def changes(self, method, path):
        return method not in {"GET", "HEAD"} and not path.endswith("/listKeys")

    def everything(self):
        states = {"properties": {"provisioningState": "Succeeded"}}
        accounts = {
            key: {**each, "properties": each["properties"] | states["properties"]}
            for key, each in self.accounts.items()
        }
        return copy.deepcopy((super().everything(), accounts, self.shares))

    def account(
        self, name, group=GROUP, sku="Standard_LRS", kind="StorageV2", location="westeurope", tags=(), **properties
    ):
        """Have an account that somebody made."""
        ident = f"/subscriptions/sub/resourceGroups/{group}/providers/Microsoft.Storage/storageAccounts/{name}"
        self.accounts[ident] = {
            "id": ident, "name": name, "kind": kind, "location": location, "sku": {"name": sku}, "tags": dict(tags),
            "properties": {"provisioningState": "Succeeded", **properties},
        }  # fmt: skip

    def names(self):
        return sorted(each["name"] for each in self.accounts.values()), sorted(
            each["name"] for each in self.shares.values()
        )

    def play(self, method, path, query, body):
        if "/microsoft.storage/" not in path.lower():
            return super().play(method, path, query, body)
        if query.get("api-version") != "2023-05-01":
            return error(400, "InvalidApiVersionParameter")
        found = _PATH.fullmatch(path)
        if found is None:
            return error(404, "InvalidResourceType")
        if found["group"] not in self.groups:
            return error(404, "ResourceGroupNotFound", "Resource group could not be found.")
        if found["account"] is None:
            rows = [each for key, each in self.accounts.items() if key.rpartition("/")[0] == path]
            start = int(query.get("$skiptoken", 0))
            more = start + self.page < len(rows)
            link = (
                {"nextLink": f"https://x{path}?api-version=2023-05-01&$skiptoken={start + self.page}"} if more else {}
            )
            return 200, {"value": copy.deepcopy(rows[start : start + self.page]), **link}
        account = path.partition("/fileServices/")[0].removesuffix("/listKeys")
        if found["action"]:
            return (200, {"keys": self.keys}) if method == "POST" and account in self.accounts else self._gone(path)
        if found["share"]:
            return self._on_share(method, path, account, body)
        return self._on_account(method, path, found["account"], body)

    def _gone(self, path):
        return error(404, "ResourceNotFound", f"The Resource '{path}' was not found.")

    def _on_account(self, method, path, name, body):
        held = self.accounts.get(path)
        if method == "PUT":
            unknown = body.keys() - ACCOUNT or body["properties"].keys() - ACCOUNT_PROPERTIES
            if unknown:
                return error(400, "InvalidRequestPropertyName", f"Could not find member {sorted(unknown)}")
            if name in self.taken or not re.fullmatch(r"[a-z0-9]{3,24}", name):
                return error(409, "StorageAccountAlreadyTaken", f"The storage account named {name} is already taken.")
            state = "Succeeded" if held else "Creating"
            self.accounts[path] = {**copy.deepcopy(body), "id": path, "name": name}
            self.accounts[path]["properties"]["provisioningState"] = state
            return (200, copy.deepcopy(self.accounts[path])) if held else (202, {})
        if held is None:
            return self._gone(path)
        shown = copy.deepcopy(held)
        held["properties"]["provisioningState"] = "Succeeded"
        return 200, shown

    def _on_share(self, method, path, account, body):
        held = self.shares.get(path)
        if account not in self.accounts:
            return (204, {}) if method == "DELETE" else self._gone(account)
        if method == "PUT":
            if (unknown := body["properties"].keys() - SHARE_PROPERTIES) or body.keys() != {"properties"}:
                return error(400, "InvalidRequestPropertyName", f"Could not find member {sorted(unknown)}")
            if self.accounts[account]["properties"]["provisioningState"] != "Succeeded":
                return error(409, "StorageAccountIsNotProvisioned")
            made = {**(held or {"properties": {}}), "id": path, "name": path.rpartition("/")[2]}
            made["properties"] = {**made["properties"], **body["properties"]}
            self.shares[path] = made
            return (200 if held else 201), copy.deepcopy(made)
        if held is None:
            return (
                (204, {}) if method == "DELETE" else error(404, "ShareNotFound", "The specified share does not exist.")
            )
        if method == "DELETE":
            del self.shares[path]
            return 200, {}
        if method == "PATCH":
            held["properties"] |= body["properties"]
        return 200, copy.deepcopy(held)
