"""Which issuers are trusted, and how their claims become users; and what the ``--oidc-*`` flags say about one.

Source: kubernetes ``pkg/kubeapiserver/options/authentication.go``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube_lib.cel import Program

ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")
"""No others: a symmetric one would make the public key a secret that everybody knows."""


@dataclass(frozen=True, slots=True)
class Mapped:
    """A claim and what is put in front of its values."""

    claim: str
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """An expression that must hold, and what to say when it does not."""

    program: Program
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Issuer:
    """One trusted issuer.

    Attributes:
        url: what ``iss`` must be.
        discovery_url: where its configuration is, if not below `url`.
        audiences: a token must be meant for one of them.
        ca: PEM text of its authority; the system's authorities if empty.
        egress: the network it is reached in, ``cluster`` or ``controlplane``; directly if empty.
        algorithms: accepted signatures.
        username: the claim that is the user, or an expression for it.
        groups: the claim that holds the groups, or an expression for them, if any.
        uid: the claim that is the uid, or an expression for it, if any.
        extra: expressions for more that is to be known of the user, by key.
        required: claims that must have these values.
        claim_rules: questions about the claims.
        user_rules: questions about the user whom the claims make.
    """

    url: str
    discovery_url: str = ""
    audiences: tuple[str, ...]
    ca: str = ""
    egress: str = ""
    algorithms: tuple[str, ...] = ALGORITHMS
    username: Mapped | Program
    groups: Mapped | Program | None = None
    uid: str | Program = ""
    extra: tuple[tuple[str, Program], ...] = ()
    required: Mapping[str, str]
    claim_rules: tuple[Rule, ...] = ()
    user_rules: tuple[Rule, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The ``--oidc-*`` flags, or the file that describes issuers in their place; and the server's own tokens."""

    oidc_issuer_url: str = ""
    oidc_client_id: str = ""
    oidc_ca_file: str = ""
    oidc_username_claim: str = "sub"
    oidc_username_prefix: str = ""
    oidc_groups_claim: str = ""
    oidc_groups_prefix: str = ""
    oidc_required_claim: Mapping[str, str] = field(default_factory=dict)
    oidc_signing_algs: tuple[str, ...] = ("RS256",)
    authentication_config: str = ""
    service_account_issuer: tuple[str, ...] = ()
    api_audiences: tuple[str, ...] = ()


def from_flags(settings: Settings) -> Issuer:
    """Return the issuer of ``--oidc-issuer-url`` and its companions.

    Without a prefix, names of users other than e-mail addresses get the issuer's in front, so that no issuer can name
    a user of another; the prefix ``-`` means none.

    Raises:
        UsageError: a flag is missing or wrong.
    """
    url = settings.oidc_issuer_url
    client_id = settings.oidc_client_id
    if not client_id:
        raise UsageError("oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set")
    claim = settings.oidc_username_claim
    prefix = settings.oidc_username_prefix
    if prefix == "-":
        prefix = ""
    elif not prefix and claim != "email":
        prefix = f"{url}#"
    groups = settings.oidc_groups_claim
    algorithms = settings.oidc_signing_algs
    unknown = [algorithm for algorithm in algorithms if algorithm not in ALGORITHMS]
    if unknown:
        raise UsageError(f"oidc-signing-algs {unknown[0]!r} is not supported (known: {', '.join(ALGORITHMS)})")
    ca_file = settings.oidc_ca_file
    return Issuer(
        url=_https(url, "oidc-issuer-url"),
        audiences=(client_id,),
        ca=_text(ca_file) if ca_file else "",
        algorithms=algorithms,
        username=Mapped(claim, prefix),
        groups=Mapped(groups, settings.oidc_groups_prefix) if groups else None,
        required=settings.oidc_required_claim,
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
