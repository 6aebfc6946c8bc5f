"""How one webhook is asked: by ``--authorization-webhook-*``, or by its entry in an AuthorizationConfiguration file.

Source: kubernetes apiserver ``pkg/apis/apiserver/validation/validation.go``, ``pkg/apis/apiserver/v1/defaults.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.durations import parse_duration
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import ROOT, FieldError, invalid, not_supported, required
from hyperkube.machinery.record import Record
from hyperkube.plugin.configuration import WrongFields, check_keys

if TYPE_CHECKING:
    from hyperkube_lib.cel import Program

_KEYS = (
    "timeout",
    "authorizedTTL",
    "unauthorizedTTL",
    "cacheAuthorizedRequests",
    "cacheUnauthorizedRequests",
    "subjectAccessReviewVersion",
    "matchConditionSubjectAccessReviewVersion",
    "failurePolicy",
    "connectionInfo",
    "matchConditions",
)
_VERSIONS = ("v1", "v1beta1")
_POLICIES = ("NoOpinion", "Deny")
_LONGEST = 30.0


class Settings(Record):
    """How one webhook is asked; the times are seconds.

    Attributes:
        path: its kubeconfig; empty for the cluster that this server runs in as a pod.
    """

    path: str
    version: str
    yes_seconds: float
    no_seconds: float
    timeout: float = 30.0
    denies_on_failure: bool = False
    conditions: tuple[Program, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagSettings:
    """The values of ``--authorization-webhook-*``."""

    authorization_webhook_config_file: str = ""
    authorization_webhook_version: str = "v1beta1"
    authorization_webhook_cache_authorized_ttl: float = 300.0
    authorization_webhook_cache_unauthorized_ttl: float = 30.0


def is_from_flags(table: Mapping[str, Any]) -> bool:
    """Tell whether settings are those of flags, not a ``webhook`` table of a file."""
    return not table or all(key.startswith("authorization_webhook_") for key in table)


def from_flags(flags: FlagSettings) -> Settings:
    """Return the settings of ``--authorization-webhook-*``.

    Raises:
        UsageError: there is no file, or the version is unknown.
    """
    if not flags.authorization_webhook_config_file:
        raise UsageError("authorization-mode Webhook's authorization config file not passed")
    version = flags.authorization_webhook_version
    if version not in _VERSIONS:
        raise UsageError(f"authorization-webhook-version {version!r} is unknown ({', '.join(_VERSIONS)})")
    return Settings(
        path=flags.authorization_webhook_config_file,
        version=version,
        yes_seconds=flags.authorization_webhook_cache_authorized_ttl,
        no_seconds=flags.authorization_webhook_cache_unauthorized_ttl,
    )


def from_table(table: Mapping[str, Any]) -> Settings:
    """Return the settings of a ``webhook`` table of an AuthorizationConfiguration file.

    Raises:
        UsageError: something is wrong; the message lists all that is, by paths from the authorizer's entry.
    """
    check_keys(table, _KEYS, "webhook")
    errors: list[FieldError] = []
    timeout = _seconds(table, "timeout", "", errors)
    if timeout is not None and not 0 < timeout <= _LONGEST:
        errors.append(invalid(ROOT.child("timeout"), str(table["timeout"]), "must be > 0s and <= 30s"))
    yes, no = (
        _ttl(table, key, default, errors) for key, default in (("authorizedTTL", "5m"), ("unauthorizedTTL", "30s"))
    )
    version = table.get("subjectAccessReviewVersion") or ""
    errors += _one_of("subjectAccessReviewVersion", version, _VERSIONS)
    rows, expressions = table.get("matchConditions") or (), table.get("matchConditionSubjectAccessReviewVersion") or ""
    if rows and not expressions:
        text = "required if match conditions are specified"
        errors.append(required(ROOT.child("matchConditionSubjectAccessReviewVersion"), text))
    elif expressions:
        errors += _one_of("matchConditionSubjectAccessReviewVersion", expressions, ("v1",))
    policy = table.get("failurePolicy") or ""
    errors += _one_of("failurePolicy", policy, _POLICIES)
    path, wrong = _connection(table.get("connectionInfo"))
    errors += wrong
    conditions: tuple[Program, ...] = ()
    if rows:
        from hyperkube_authz.webhook.conditions import compile_conditions  # the engine only where it is used

        conditions, wrong = compile_conditions(ROOT.child("matchConditions"), rows)
        errors += wrong
    if errors:
        raise WrongFields(errors)
    return Settings(
        path=path,
        version=str(version),
        yes_seconds=yes if table.get("cacheAuthorizedRequests", True) else 0.0,
        no_seconds=no if table.get("cacheUnauthorizedRequests", True) else 0.0,
        timeout=timeout or _LONGEST,
        denies_on_failure=policy == "Deny",
        conditions=conditions,
    )


def _seconds(table: Mapping[str, Any], key: str, default: str, errors: list[FieldError]) -> float | None:
    """Return a time of the table; None, with an error noted, for none at all or one that cannot be read."""
    text = str(table.get(key) or default)
    if not text:
        errors.append(required(ROOT.child(key)))
        return None
    try:
        return parse_duration(text)
    except ValueError as error:
        errors.append(invalid(ROOT.child(key), text, str(error)))
        return None


def _ttl(table: Mapping[str, Any], key: str, default: str, errors: list[FieldError]) -> float:
    seconds = _seconds(table, key, default, errors) or 0.0
    if seconds < 0:
        errors.append(invalid(ROOT.child(key), str(table[key]), "must be > 0s"))
    return seconds


def _one_of(key: str, value: Any, known: tuple[str, ...]) -> list[FieldError]:
    if not value:
        return [required(ROOT.child(key))]
    return [] if value in known else [not_supported(ROOT.child(key), value, known)]


def _connection(row: Any) -> tuple[str, list[FieldError]]:
    path = ROOT.child("connectionInfo")
    table = check_keys(row, ("type", "kubeConfigFile"), str(path))
    kind, file, at = table.get("type") or "", str(table.get("kubeConfigFile") or ""), path.child("kubeConfigFile")
    if not kind:
        return "", [required(path.child("type"))]
    if kind == "InClusterConfig":
        return "", [invalid(at, file, "can only be set when type=KubeConfigFile")] if file else []
    if kind != "KubeConfigFile":
        return "", [not_supported(path.child("type"), kind, ("InClusterConfig", "KubeConfigFile"))]
    if not file:
        return "", [required(at)]
    if not FilePath(file).is_absolute():
        return "", [invalid(at, file, "must be an absolute path")]
    if not FilePath(file).exists():
        return "", [invalid(at, file, f"error loading file: stat {file}: no such file or directory")]
    if not FilePath(file).is_file():
        return "", [invalid(at, file, "must be a regular file")]
    return file, []
