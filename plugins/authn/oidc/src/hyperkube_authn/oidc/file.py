"""The AuthenticationConfiguration file: issuers with claims, rules and expressions.

Everything that is wrong with it is said at once, in Kubernetes' words.
Source: kubernetes apiserver ``pkg/apis/apiserver/validation/validation.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from hyperkube_authn.oidc.configuration import Issuer, Mapped, Rule

from hyperkube.machinery.aggregate import aggregate
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.field import ROOT, FieldError, Path, duplicate, invalid, required, too_many
from hyperkube.machinery.names import domain_prefixed_path
from hyperkube.plugin.configuration import check_keys, read_configuration

if TYPE_CHECKING:
    from hyperkube_lib.cel import Program

VERSIONS = ("apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1", "apiserver.config.k8s.io/v1alpha1")
MOST_ISSUERS = 64
_RESERVED = ("kubernetes.io", "k8s.io")
_ISSUER_KEYS = ("url", "discoveryURL", "certificateAuthority", "audiences", "audienceMatchPolicy", "egressSelectorType")
_BOTH = "claim and expression can't both be set"
_EMAIL = (
    "claims.email_verified must be used in claimMappings.username.expression or"
    " claimMappings.extra[*].valueExpression or claimValidationRules[*].expression"
    " when claims.email is used in claimMappings.username.expression"
)

Compile = Callable[[str], "Program"]
EGRESS_GATE = "StructuredAuthenticationConfigurationEgressSelector"


def from_file(path: str, disallowed: Collection[str] = (), *, selects_egress: bool = True) -> list[Issuer]:
    """Return the issuers of a file.

    Args:
        path: the file.
        disallowed: issuers whose tokens other authenticators judge: those of service accounts.
        selects_egress: whether issuers may say in which network they are (the feature gate `EGRESS_GATE`).

    Raises:
        UsageError: the file is wrong; the message lists all that is.
    """
    found = read_configuration(path, "AuthenticationConfiguration", VERSIONS)
    check_keys(found, ("apiVersion", "kind", "jwt", "anonymous"), "AuthenticationConfiguration")
    rows, root = found.get("jwt") or [], ROOT.child("jwt")
    if len(rows) > MOST_ISSUERS:
        raise UsageError(str(too_many(root, len(rows), MOST_ISSUERS)))
    errors: list[FieldError] = []
    issuers = []
    seen: dict[str, set[str]] = {"url": set(), "discoveryURL": set()}
    for index, row in enumerate(rows):
        reader = _Reader(root.index(index), row, disallowed, selects_egress=selects_egress)
        issuers.append(reader.issuer)
        errors += reader.errors
        for member, values in seen.items():
            value = reader.source.get(member) or ""
            if value in values:
                errors.append(duplicate(reader.path.child("issuer", member), value))
            if value:
                values.add(value)
    if errors:
        raise UsageError(aggregate(errors))
    return issuers


class _Reader:
    """One entry of ``jwt``: the issuer it makes, and what is wrong with it."""

    def __init__(self, path: Path, row: Any, disallowed: Collection[str], *, selects_egress: bool) -> None:
        self.path = path
        self.errors: list[FieldError] = []
        keys = ("issuer", "claimValidationRules", "claimMappings", "userValidationRules")
        table = check_keys(row, keys, str(path))
        self.source = check_keys(table.get("issuer"), _ISSUER_KEYS, f"{path}.issuer")
        self._read_source(disallowed)
        self._check_egress(self.source.get("egressSelectorType") or "", selects_egress=selects_egress)
        claim_rules, wanted = self._claim_rules(table.get("claimValidationRules") or ())
        mappings = check_keys(
            table.get("claimMappings"), ("username", "groups", "uid", "extra"), f"{path}.claimMappings"
        )
        username = self._mapped(mappings, "username", needed=True)
        groups = self._mapped(mappings, "groups", needed=False)
        uid, extra = self._uid(mappings), self._extra(mappings.get("extra") or ())
        self._check_email(username, [rule.program for rule in claim_rules] + [program for _, program in extra])
        self.issuer = Issuer(
            url=str(self.source.get("url") or ""),
            discovery_url=str(self.source.get("discoveryURL") or ""),
            audiences=tuple(map(str, self.source.get("audiences") or ())),
            ca=str(self.source.get("certificateAuthority") or ""),
            egress=str(self.source.get("egressSelectorType") or ""),
            username=username or Mapped(""),
            groups=groups,
            uid=uid,
            extra=tuple(extra),
            required=wanted,
            claim_rules=tuple(claim_rules),
            user_rules=tuple(self._user_rules(table.get("userValidationRules") or ())),
        )

    def _fail(self, error: FieldError) -> None:
        self.errors.append(error)

    # where the issuer is

    def _read_source(self, disallowed: Collection[str]) -> None:
        path, source = self.path.child("issuer"), self.source
        url, discovery = str(source.get("url") or ""), str(source.get("discoveryURL") or "")
        if not url:
            self._fail(required(path.child("url")))
        else:
            if url in disallowed:
                listed = " ".join(sorted(disallowed))
                self._fail(invalid(path.child("url"), url, f"URL must not overlap with disallowed issuers: [{listed}]"))
            self.errors += _url_errors(path.child("url"), url)
        if discovery:
            at = path.child("discoveryURL")
            if url and url.rstrip("/") == discovery.rstrip("/"):
                self._fail(invalid(at, discovery, "discoveryURL must be different from URL"))
            self.errors += _url_errors(at, discovery)
        self._check_audiences(path, source.get("audiences") or (), str(source.get("audienceMatchPolicy") or ""))
        authority = str(source.get("certificateAuthority") or "")
        if authority and not _is_bundle(authority):
            text = "data does not contain any valid RSA or ECDSA certificates"
            self._fail(invalid(path.child("certificateAuthority"), "<omitted>", text))

    def _check_egress(self, selector: str, *, selects_egress: bool) -> None:
        at = self.path.child("issuer", "egressSelectorType")
        if selector and selector not in {"controlplane", "cluster"}:
            self._fail(invalid(at, selector, "egress selector must be either controlplane or cluster"))
        elif selector and not selects_egress:
            text = f"egress selector is not supported when {EGRESS_GATE} feature gate is disabled"
            self._fail(invalid(at, selector, text))

    def _check_audiences(self, path: Path, audiences: Any, policy: str) -> None:
        at = path.child("audiences")
        if not audiences:
            self._fail(required(at, f"at least one {at} is required"))
            return
        for index, audience in enumerate(audiences):
            if not audience:
                self._fail(required(at.index(index)))
            if audience in audiences[:index]:
                self._fail(duplicate(at.index(index), audience))
        at = path.child("audienceMatchPolicy")
        if len(audiences) > 1 and policy != "MatchAny":
            self._fail(invalid(at, policy, "audienceMatchPolicy must be MatchAny for multiple audiences"))
        if len(audiences) == 1 and policy not in {"", "MatchAny"}:
            self._fail(invalid(at, policy, "audienceMatchPolicy must be empty or MatchAny for single audience"))

    # what the claims become

    def _mapped(self, mappings: Mapping[str, Any], member: str, *, needed: bool) -> Mapped | Program | None:
        path = self.path.child("claimMappings", member)
        table = check_keys(mappings.get(member), ("claim", "prefix", "expression"), str(path))
        claim, expression, prefix = table.get("claim") or "", table.get("expression") or "", table.get("prefix")
        if claim and expression:
            self._fail(invalid(path, "", _BOTH))
        elif expression:
            if prefix is not None:
                self._fail(invalid(path.child("prefix"), prefix, "may not be specified when expression is set"))
            return self._compiled(path.child("expression"), str(expression), "claims_value")
        elif claim:
            if prefix is None:
                text = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
                self._fail(required(path.child("prefix"), text))
            return Mapped(str(claim), str(prefix or ""))
        elif needed:
            self._fail(required(path, "claim or expression is required"))
        return None

    def _uid(self, mappings: Mapping[str, Any]) -> str | Program:
        path = self.path.child("claimMappings", "uid")
        table = check_keys(mappings.get("uid"), ("claim", "expression"), str(path))
        claim, expression = str(table.get("claim") or ""), str(table.get("expression") or "")
        if claim and expression:
            self._fail(invalid(path, "", _BOTH))
        if not expression:
            return claim
        return self._compiled(path.child("expression"), expression, "claims_value") or ""

    def _extra(self, rows: Any) -> list[tuple[str, Program]]:
        found: list[tuple[str, Program]] = []
        seen: set[str] = set()
        for index, row in enumerate(rows):
            path = self.path.child("claimMappings", "extra").index(index)
            table = check_keys(row, ("key", "valueExpression"), str(path))
            key, expression = str(table.get("key") or ""), str(table.get("valueExpression") or "")
            self._check_key(path.child("key"), key)
            if key in seen:
                self._fail(duplicate(path.child("key"), key))
                continue
            seen.add(key)
            if not expression:
                self._fail(required(path.child("valueExpression")))
                continue
            program = self._compiled(path.child("valueExpression"), expression, "claims_value")
            if program is not None:
                found.append((key, program))
        return found

    def _check_key(self, path: Path, key: str) -> None:
        if not key:
            self._fail(required(path))
        else:
            self.errors += [invalid(path, key, text) for text in domain_prefixed_path(key)]
        if key != key.lower():
            self._fail(invalid(path, key, "must be lowercase"))
        domain, slash, _ = key.partition("/")
        if slash and any(domain == reserved or domain.endswith(f".{reserved}") for reserved in _RESERVED):
            text = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"
            self._fail(invalid(path, key, text))

    def _check_email(self, username: Mapped | Program | None, others: list[Program]) -> None:
        if username is None or isinstance(username, Mapped):
            return
        from hyperkube_authn.oidc.expressions import uses

        if uses(username, "email") and not any(uses(program, "email_verified") for program in [username, *others]):
            self._fail(invalid(self.path.child("claimMappings", "username", "expression"), username.source, _EMAIL))

    # what must hold

    def _claim_rules(self, rows: Any) -> tuple[list[Rule], dict[str, str]]:
        rules: list[Rule] = []
        wanted: dict[str, str] = {}
        seen: set[str] = set()
        for index, row in enumerate(rows):
            path = self.path.child("claimValidationRules").index(index)
            table = check_keys(row, ("claim", "requiredValue", "expression", "message"), str(path))
            claim, value, expression, message = (
                str(table.get(member) or "") for member in ("claim", "requiredValue", "expression", "message")
            )
            if claim and expression:
                self._fail(invalid(path, claim, _BOTH))
            elif claim:
                if message:
                    self._fail(invalid(path.child("message"), message, "may not be specified when claim is set"))
                if claim in wanted:
                    self._fail(duplicate(path.child("claim"), claim))
                wanted[claim] = value
            elif expression:
                if value:
                    text = "may not be specified when expression is set"
                    self._fail(invalid(path.child("requiredValue"), value, text))
                rules += self._rule(path.child("expression"), expression, message, "claims_rule", seen)
            else:
                self._fail(required(path, "claim or expression is required"))
        return rules, wanted

    def _user_rules(self, rows: Any) -> list[Rule]:
        rules: list[Rule] = []
        seen: set[str] = set()
        for index, row in enumerate(rows):
            path = self.path.child("userValidationRules").index(index)
            table = check_keys(row, ("expression", "message"), str(path))
            expression, message = str(table.get("expression") or ""), str(table.get("message") or "")
            if not expression:
                self._fail(required(path.child("expression")))
                continue
            rules += self._rule(path.child("expression"), expression, message, "user_rule", seen)
        return rules

    def _rule(self, path: Path, expression: str, message: str, kind: str, seen: set[str]) -> list[Rule]:
        if expression in seen:
            self._fail(duplicate(path, expression))
            return []
        seen.add(expression)
        program = self._compiled(path, expression, kind)
        return [Rule(program, message)] if program is not None else []

    def _compiled(self, path: Path, expression: str, kind: str) -> Program | None:
        from hyperkube_authn.oidc import expressions  # the engine is imported where expressions are used

        compiling: Compile = getattr(expressions, kind)
        try:
            return compiling(expression)
        except expressions.WrongExpression as error:
            self._fail(invalid(path, expression, str(error)))
            return None


def _url_errors(path: Path, url: str) -> list[FieldError]:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        return [invalid(path, url, str(error))]
    wrong = []
    if parts.scheme != "https":
        wrong.append("URL scheme must be https")
    if parts.username is not None or parts.password is not None:
        wrong.append("URL must not contain a username or password")
    if parts.query:
        wrong.append("URL must not contain a query")
    if parts.fragment:
        wrong.append("URL must not contain a fragment")
    return [invalid(path, url, text) for text in wrong]


def _is_bundle(text: str) -> bool:
    from cryptography.x509 import load_pem_x509_certificates

    try:
        return bool(load_pem_x509_certificates(text.encode()))
    except ValueError:
        return False
