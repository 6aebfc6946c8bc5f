"""Which authorizers decide, in which order: ``--authorization-mode``, or an AuthorizationConfiguration file.

Source: kubernetes apiserver ``pkg/apis/apiserver/validation``, ``pkg/kubeapiserver/options/authorization.go``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from hyperkube_host.apiserver.options import AuthorizationOptions

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, not_supported, required
from hyperkube.machinery.names import dns1123_subdomain
from hyperkube.plugin.configuration import WrongFields, check_keys, read_configuration
from hyperkube.plugin.defaults import enabled_by_default
from hyperkube.plugin.loader import installed

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_WEBHOOK = "Webhook"


@dataclass(frozen=True, slots=True)
class AuthorizerConfiguration:
    """One authorizer: the plugin, what this one of it is called, its settings, and where the file has it."""

    plugin: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    path: Path = field(default=ROOT, compare=False)


def authorizers_of(options: AuthorizationOptions) -> list[AuthorizerConfiguration]:
    """Return the authorizers in order.

    Raises:
        UsageError: the file is wrong, flags speak of the same, or an authorizer is given twice.
    """
    path, modes, default = options.authorization_config, options.authorization_mode, default_modes()
    if path and (modes not in {(), default} or options.authorization_webhook_config_file):
        raise UsageError(
            "--authorization-config can not be specified when --authorization-mode or"
            " --authorization-webhook-* flags are defined"
        )
    if path:
        return from_file(path)
    chosen = [AuthorizerConfiguration(mode, mode) for mode in modes or default]
    names = [authorizer.name for authorizer in chosen]
    repeated = next((name for name in names if names.count(name) > 1), "")
    if repeated:
        raise UsageError(f'authorization-mode "{repeated}" was specified more than once')
    return chosen


def default_modes() -> tuple[str, ...]:
    """Return what a server has that is told nothing of authorizers: the bundle's, as far as they are installed."""
    return tuple(name for name in enabled_by_default("authz") or () if name in installed("authz"))


def from_file(path: str) -> list[AuthorizerConfiguration]:
    """Return the authorizers of a file, in its order.

    Raises:
        UsageError: the file is wrong; the message lists all that is.
    """
    found = read_configuration(path, "AuthorizationConfiguration", _VERSIONS)
    check_keys(found, ("apiVersion", "kind", "authorizers"), "AuthorizationConfiguration")
    rows, root = found.get("authorizers") or [], ROOT.child("authorizers")
    if not rows:
        raise WrongFields([required(root, "at least one authorization mode must be defined")])
    errors: list[FieldError] = []
    chosen: list[AuthorizerConfiguration] = []
    for index, row in enumerate(rows):
        wrong, authorizer = _chosen(row, root.index(index), chosen)
        errors += wrong
        if authorizer is not None:
            chosen.append(authorizer)
    if errors:
        raise WrongFields(errors)
    return chosen


def _chosen(
    row: Any, path: Path, before: Sequence[AuthorizerConfiguration]
) -> tuple[list[FieldError], AuthorizerConfiguration | None]:
    """Return what is wrong with one row, and the authorizer it names."""
    table = check_keys(row, ("type", "name", "webhook"), str(path))
    plugin, name = str(table.get("type") or ""), str(table.get("name") or "")
    known = sorted(installed("authz"))
    if not plugin:
        return [required(path.child("type"))], None
    if plugin not in known:
        return [not_supported(path.child("type"), plugin, known)], None
    if plugin != _WEBHOOK and any(other.plugin == plugin for other in before):
        return [duplicate(path.child("type"), plugin)], None
    errors = _name_errors(name, path.child("name"), before)
    webhook = table.get("webhook")
    if plugin == _WEBHOOK and webhook is None:
        errors.append(required(path.child("webhook"), "required when type=Webhook"))
    if plugin != _WEBHOOK and webhook is not None:
        errors.append(invalid(path.child("webhook"), "non-null", "may only be specified when type=Webhook"))
    return errors, AuthorizerConfiguration(plugin, name, check_keys(webhook, webhook or (), f"{path}.webhook"), path)


def _name_errors(name: str, path: Path, before: Sequence[AuthorizerConfiguration]) -> list[FieldError]:
    if not name:
        return [required(path)]
    if any(other.name == name for other in before):
        return [duplicate(path, name)]
    wrong = dns1123_subdomain(name)
    return [invalid(path, name, f"authorizer name is invalid: {', '.join(wrong)}")] if wrong else []
