"""Which issuers are trusted, and how their claims become users: from the ``--oidc-*`` flags or from a file.

Source: kubernetes apiserver ``pkg/apis/apiserver/validation/validation.go``, ``pkg/kubeapiserver/options``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.configuration import check_keys, read_configuration

VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1")
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
"""No others: a symmetric one would make the public key a secret that everybody knows."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A claim and what is put in front of its values."""

    claim: str
    prefix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """One trusted issuer.

    Attributes:
        url: what ``iss`` must be.
        discovery_url: where its configuration is, if not below `url`.
        audiences: a token must be meant for one of them.
        ca: PEM text of its authority; the system's authorities if empty.
        algorithms: accepted signatures.
        username: the claim that is the user.
        groups: the claim that holds the groups, if any.
        uid: the claim that is the uid, if any.
        required: claims that must have these values.
    """

    url: str
    discovery_url: str = ""
    audiences: tuple[str, ...]
    ca: str = ""
    algorithms: tuple[str, ...] = ALGORITHMS
    username: Mapped
    groups: Mapped | None = None
    uid: str = ""
    required: Mapping[str, str]


def issuers_of(options: Mapping[str, Any]) -> list[Issuer]:
    """Return the issuers that the options name.

    Raises:
        UsageError: both ways are used at once, or one is wrong.
    """
    path = str(options.get("authentication-config") or "")
    if path and options.get("oidc-issuer-url"):
        raise UsageError("authentication-config and oidc-* flags are mutually exclusive")
    issuers = from_file(path) if path else [from_flags(options)] if options.get("oidc-issuer-url") else []
    urls = [issuer.url for issuer in issuers]
    repeated = next((url for url in urls if urls.count(url) > 1), "")
    if repeated:
        raise UsageError(f"issuer {repeated!r} is given twice")
    return issuers


def _listed(value: Any) -> tuple[str, ...]:
    parts = value.split(",") if isinstance(value, str) else list(value or ())
    return tuple(str(part) for part in parts if part)


def from_flags(options: Mapping[str, Any]) -> Issuer:
    """Return the issuer of ``--oidc-issuer-url`` and its companions.

    Without a prefix, names of users other than e-mail addresses get the issuer's in front, so that no issuer can name
    a user of another; the prefix ``-`` means none.

    Raises:
        UsageError: a flag is missing or wrong.
    """
    url = str(options.get("oidc-issuer-url") or "")
    client_id = str(options.get("oidc-client-id") or "")
    if not client_id:
        raise UsageError("oidc-issuer-url and oidc-client-id must be specified together")
    claim = str(options.get("oidc-username-claim") or "sub")
    prefix = str(options.get("oidc-username-prefix") or "")
    if prefix == "-":
        prefix = ""
    elif not prefix and claim != "email":
        prefix = f"{url}#"
    groups = str(options.get("oidc-groups-claim") or "")
    algorithms = _listed(options.get("oidc-signing-algs")) or ("RS256",)
    unknown = [algorithm for algorithm in algorithms if algorithm not in ALGORITHMS]
    if unknown:
        raise UsageError(f"oidc-signing-algs {unknown[0]!r} is not supported (known: {', '.join(ALGORITHMS)})")
    ca_file = str(options.get("oidc-ca-file") or "")
    return Issuer(
        url=_https(url, "oidc-issuer-url"),
        audiences=(client_id,),
        ca=_text(ca_file) if ca_file else "",
        algorithms=algorithms,
        username=Mapped(claim, prefix),
        groups=Mapped(groups, str(options.get("oidc-groups-prefix") or "")) if groups else None,
        required=dict(options.get("oidc-required-claim") or {}),
    )


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read oidc-ca-file {path!r}: {error}") from error


def _https(url: Any, where: str) -> str:
    parts = urlsplit(str(url or ""))
    if parts.scheme != "https" or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise UsageError(f"{where} {url!r} must be an https URL without user, query and fragment")
    return str(url)


def from_file(path: str) -> list[Issuer]:
    """Return the issuers of an AuthenticationConfiguration file.

    Raises:
        UsageError: the file is wrong, or uses CEL expressions.
    """
    found = read_configuration(path, "AuthenticationConfiguration", VERSIONS)
    check_keys(found, ("apiVersion", "kind", "jwt", "anonymous"), "AuthenticationConfiguration")
    rows = found.get("jwt") or []
    return [_issuer(row, f"jwt[{index}]") for index, row in enumerate(rows)]


def _issuer(row: Any, where: str) -> Issuer:
    keys = ("issuer", "claimValidationRules", "claimMappings", "userValidationRules")
    table = check_keys(row, keys, where)
    if table.get("userValidationRules"):
        raise UsageError(f"{where}.userValidationRules: CEL expressions are not built yet")
    known = ("url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy", "egressSelectorType")
    issuer = check_keys(table.get("issuer"), known, f"{where}.issuer")
    url = _https(issuer.get("url"), f"{where}.issuer.url")
    audiences = _listed(issuer.get("audiences"))
    if not audiences:
        raise UsageError(f"{where}.issuer.audiences: at least one is required")
    policy = issuer.get("audienceMatchPolicy") or ""
    if policy not in {"", "MatchAny"} or (len(audiences) > 1 and not policy):
        raise UsageError(f"{where}.issuer.audienceMatchPolicy {policy!r} must be 'MatchAny' for several audiences")
    discovery = issuer.get("discoveryURL") or ""
    if discovery == url:
        raise UsageError(f"{where}.issuer.discoveryURL must be different from url")
    keys = ("username", "groups", "uid", "extra")
    mappings = check_keys(table.get("claimMappings"), keys, f"{where}.claimMappings")
    if mappings.get("extra"):
        raise UsageError(f"{where}.claimMappings.extra: CEL expressions are not built yet")
    username = _mapped(mappings.get("username"), f"{where}.claimMappings.username")
    if username is None:
        raise UsageError(f"{where}.claimMappings.username: claim is required")
    uid = check_keys(mappings.get("uid"), ("claim", "expression"), f"{where}.claimMappings.uid")
    _refuse_expression(uid, f"{where}.claimMappings.uid")
    return Issuer(
        url=url,
        discovery_url=_https(discovery, f"{where}.issuer.discoveryURL") if discovery else "",
        audiences=audiences,
        ca=str(issuer.get("certificateAuthority") or ""),
        username=username,
        groups=_mapped(mappings.get("groups"), f"{where}.claimMappings.groups"),
        uid=str(uid.get("claim") or ""),
        required=_required(table.get("claimValidationRules") or (), where),
    )


def _refuse_expression(table: Mapping[str, Any], where: str) -> None:
    if table.get("expression"):
        raise UsageError(f"{where}.expression: CEL expressions are not built yet")


def _mapped(row: Any, where: str) -> Mapped | None:
    table = check_keys(row, ("claim", "prefix", "expression"), where)
    _refuse_expression(table, where)
    claim = str(table.get("claim") or "")
    if not claim:
        return None
    if table.get("prefix") is None:
        raise UsageError(f"{where}.prefix is required when claim is set. It can be set to an empty string")
    return Mapped(claim, str(table["prefix"]))


def _required(rows: Sequence[Any], where: str) -> dict[str, str]:
    required = {}
    for index, row in enumerate(rows):
        at = f"{where}.claimValidationRules[{index}]"
        table = check_keys(row, ("claim", "requiredValue", "expression", "message"), at)
        _refuse_expression(table, at)
        if not table.get("claim"):
            raise UsageError(f"{at}.claim is required")
        required[str(table["claim"])] = str(table.get("requiredValue") or "")
    return required
