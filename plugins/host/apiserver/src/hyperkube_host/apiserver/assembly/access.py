"""The fourth stage: who asks, and what they may do."""

from __future__ import annotations

from collections.abc import Callable

from hyperkube_host.apiserver.assembly.foundation import Foundation
from hyperkube_host.apiserver.authentication.authenticators import load_authn
from hyperkube_host.apiserver.authentication.token_signer import TokenSigner
from hyperkube_host.apiserver.authentication.union import Authentication, with_authenticated_group
from hyperkube_host.apiserver.authorization.authorizers import load_authz
from hyperkube_host.apiserver.authorization.reload import AuthorizerReloader
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.explain.records import Explanations
from hyperkube_host.apiserver.plugins import hooks
from hyperkube_lib.serving.kubelet_tokens import KubeletTokens
from hyperkube_lib.serving.turns import Turns

from hyperkube.hookspecs.authn import Authenticated, Credentials, TakesPasswords
from hyperkube.hookspecs.authz import AuthzHooks, Decision, ExplainsRefusals
from hyperkube.machinery.record import Record
from hyperkube.plugin import PluginHost


def _at_once(call: Callable[[], Decision]) -> Decision:
    return call()


class Access(Record):
    """Authentication and authorization.

    Attributes:
        authz: the plugins that authorize.
        reload: takes up the authorizers of a changed ``--authorization-config``.
        explanations: why requests were refused, as far as flags have that told.
        signer: signs service-account tokens; None without a key.
        kubelet_tokens: what the server shows kubelets.
    """

    authentication: Authentication
    authorization: Authorization
    authz: PluginHost[AuthzHooks]
    reload: AuthorizerReloader
    explanations: Explanations
    signer: TokenSigner | None
    kubelet_tokens: KubeletTokens

    def review(self, credentials: Credentials) -> Authenticated | None:
        """Return whom a token under review proves; see `Authentication.review`."""
        user = self.kubelet_tokens.user(credentials.token, credentials.audiences)
        if user is not None:
            return Authenticated(with_authenticated_group(user), audiences=credentials.audiences)
        return self.authentication.review(credentials)


def build_access(foundation: Foundation, turns: Turns | None = None) -> Access:
    """Load the authenticators and authorizers, and keep the promise of the authorizer."""
    options, clock = foundation.options, foundation.clock
    rules = options.authorization
    authn = load_authn(foundation.plugin_settings, options.authentication.authentication_plugins, foundation.context)
    authz = load_authz(rules, foundation.context)
    foundation.hosts.add(authn)
    foundation.hosts.add(authz)
    authorization = Authorization(
        hooks(authz, "authz_authorize"),
        hooks(authz, "authz_epoch"),
        hooks(authz, "authz_rules"),
        elsewhere=turns.elsewhere if turns is not None else _at_once,
    )
    foundation.authorizer.keep(authorization)
    explaining = [plugin.reasons for plugin in authz.plugins if isinstance(plugin, ExplainsRefusals)]
    reasons = explaining[0] if rules.explain_forbidden and explaining else None
    return Access(
        authentication=Authentication(
            hooks(authn, "authn_authenticate"),
            clock,
            basic=any(isinstance(plugin, TakesPasswords) for plugin in authn.plugins),
            proxy_headers=options.authentication.requestheader_username_headers,
        ),
        authorization=authorization,
        authz=authz,
        reload=AuthorizerReloader(authz, authorization, foundation.context, rules.authorization_config, clock),
        explanations=Explanations(clock, options.admission.explain_admission, reasons),
        signer=_signer(foundation),
        kubelet_tokens=KubeletTokens(clock, options.service_accounts.service_account_signing_key_file),
    )


def _signer(foundation: Foundation) -> TokenSigner | None:
    options = foundation.options.service_accounts
    return TokenSigner(options, foundation.clock) if options.service_account_signing_key_file else None
