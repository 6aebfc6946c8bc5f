"""Which authorizers decide, in which order: ``--authorization-mode``, or an AuthorizationConfiguration file.

Source: kubernetes ``pkg/apis/apiserver/validation``, ``pkg/kubeapiserver/options/authorization.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.plugin.configuration import check_keys, read_configuration

DEFAULT_MODES = ("AlwaysAllow",)
_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_WEBHOOK = "Webhook"


@dataclass(frozen=True, slots=True)
class Chosen:
    """One authorizer: the plugin, what this one of it is called, and its settings."""

    plugin: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)


def authorizers_of(options: Mapping[str, Any], modes: Sequence[str]) -> list[Chosen]:
    """Return the authorizers in order.

    Args:
        options: the server's options.
        modes: the value of ``--authorization-mode``.

    Raises:
        UsageError: the file is wrong, flags speak of the same, or an authorizer is given twice.
    """
    path = str(options.get("authorization-config") or "")
    if not path:
        chosen = [Chosen(mode, mode) for mode in modes or DEFAULT_MODES]
    elif tuple(modes) not in {(), DEFAULT_MODES} or options.get("authorization-webhook-config-file"):
        raise UsageError("authorization-config can not be specified when authorization-mode or a webhook flag is")
    else:
        chosen = _from_file(path)
    names = [authorizer.name for authorizer in chosen]
    repeated = next((name for name in names if names.count(name) > 1), "")
    if repeated:
        raise UsageError(f"authorizer {repeated!r} is given twice")
    return chosen


def _from_file(path: str) -> list[Chosen]:
    found = read_configuration(path, "AuthorizationConfiguration", _VERSIONS)
    check_keys(found, ("apiVersion", "kind", "authorizers"), "AuthorizationConfiguration")
    rows = found.get("authorizers") or []
    if not rows:
        raise UsageError("authorizers: at least one authorization mode must be defined")
    return [_chosen(row, f"authorizers[{index}]") for index, row in enumerate(rows)]


def _chosen(row: Any, where: str) -> Chosen:
    table = check_keys(row, ("type", "name", "webhook"), where)
    plugin, name = str(table.get("type") or ""), str(table.get("name") or "")
    if not plugin:
        raise UsageError(f"{where}.type is required")
    if plugin != _WEBHOOK:
        if table.get("webhook") is not None:
            raise UsageError(f"{where}.webhook may only be specified when type is {_WEBHOOK!r}, not {plugin!r}")
        return Chosen(plugin, plugin)
    if dns1123_subdomain(name):
        raise UsageError(f"{where}.name {name!r} must be a DNS subdomain")
    if not table.get("webhook"):
        raise UsageError(f"{where}.webhook is required when type is {_WEBHOOK!r}")
    return Chosen(plugin, name, check_keys(table["webhook"], table["webhook"], f"{where}.webhook"))
