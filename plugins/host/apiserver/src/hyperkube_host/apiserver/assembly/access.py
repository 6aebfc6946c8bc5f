"""The fourth stage: who asks, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from hyperkube_host.apiserver.assembly.foundation import Foundation
from hyperkube_host.apiserver.authentication.authenticators import BASIC, load_authn
from hyperkube_host.apiserver.authentication.token_signer import TokenSigner
from hyperkube_host.apiserver.authentication.union import Authentication
from hyperkube_host.apiserver.authorization.authorizers import load_authz
from hyperkube_host.apiserver.authorization.reload import AuthorizersOfFile
from hyperkube_host.apiserver.authorization.union import ALWAYS_ALLOWED_PATHS, Authorization
from hyperkube_host.apiserver.explain.reasons import Reasons
from hyperkube_host.apiserver.explain.records import Explanations
from hyperkube_host.apiserver.plugins import hooks, listed

from hyperkube.plugin import PluginHost


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Authentication and authorization.

    Attributes:
        authz: the plugins that authorize.
        reload: takes up the authorizers of a changed ``--authorization-config``.
        explanations: why requests were refused, as far as flags have that told.
        signer: signs service-account tokens; None without a key.
    """

    authentication: Authentication
    authorization: Authorization
    authz: PluginHost
    reload: AuthorizersOfFile
    explanations: Explanations
    signer: TokenSigner | None


def build_access(foundation: Foundation) -> Access:
    """Load the authenticators and authorizers, and keep the promise of the authorizer."""
    options, clock = foundation.options, foundation.clock
    authn = load_authn(options, foundation.context)
    authz = load_authz(options, foundation.context)
    foundation.hosts.add(authn)
    foundation.hosts.add(authz)
    authorization = Authorization(
        hooks(authz, "authz_authorize"),
        hooks(authz, "authz_epoch"),
        hooks(authz, "authz_rules"),
        open_paths=listed(options, "authorization-always-allow-paths") or ALWAYS_ALLOWED_PATHS,
    )
    foundation.authorizer.keep(authorization)
    reasons = Reasons(foundation.informers) if options.get("explain-forbidden") and "RBAC" in authz.names else None
    return Access(
        authentication=Authentication(
            hooks(authn, "authn_authenticate"),
            clock,
            basic=bool(BASIC.intersection(authn.names)),
            proxy_headers=listed(options, "requestheader-username-headers") or ["x-remote-user"],
        ),
        authorization=authorization,
        authz=authz,
        reload=AuthorizersOfFile(authz, authorization, foundation.context, options, clock),
        explanations=Explanations(clock, bool(options.get("explain-admission")), reasons),
        signer=_signer(foundation),
    )


def _signer(foundation: Foundation) -> TokenSigner | None:
    options = foundation.options
    if not options.get("service-account-signing-key-file"):
        return None
    issuers = listed(options, "service-account-issuer")
    return TokenSigner(options, issuers, listed(options, "api-audiences") or issuers, foundation.clock)
