"""BootstrapToken: a short-lived secret with which a new node may ask to join.

A token ``abcdef.0123456789abcdef`` is good while the secret ``bootstrap-token-abcdef`` in ``kube-system`` holds its
second half, says that it may authenticate, and has not expired.
Source: kubernetes ``plugin/pkg/auth/authenticator/token/bootstrap/bootstrap.go``.
"""

from __future__ import annotations

import hmac
import re

from hyperkube_lib.bootstrap_tokens import NAMESPACE, PREFIX, TYPE, data_of, has_expired

from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.authn import Authenticated, Credentials
from hyperkube.kinds.resources import SECRETS
from hyperkube.machinery.errors import ApiError, NotFound, Unauthorized
from hyperkube.machinery.objects import Object, metadata
from hyperkube.machinery.record import Record
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import Plugin, PluginContext

GROUP = "system:bootstrappers"
_TOKEN = re.compile(r"([a-z0-9]{6})\.([a-z0-9]{16})")
_EXTRA_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


def extra_groups(text: str) -> list[str] | None:
    """Return the groups of ``auth-extra-groups``, sorted, or None when one of them is none that a token may give."""
    groups = sorted({group for group in text.split(",") if group})
    return groups if all(_EXTRA_GROUP.fullmatch(group) for group in groups) else None


class Settings(Record):
    """Whether bootstrap tokens are believed."""

    enable_bootstrap_token_auth: bool = False


class BootstrapToken(Plugin):
    """Names ``system:bootstrap:ID`` for a token that a secret holds, where ``--enable-bootstrap-token-auth`` is set."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._settings = self.settings(Settings)

    @hookimpl
    def authn_authenticate(self, credentials: Credentials) -> Authenticated | None:
        """Look the token's secret up; nothing is kept, so that a deleted secret counts at once."""
        match = _TOKEN.fullmatch(credentials.token)
        if match is None or not self._settings.enable_bootstrap_token_auth:
            return None
        token_id, token_secret = match.groups()
        secret = self._secret(token_id)
        if secret is None or secret.get("type") != TYPE or metadata(secret).get("deletionTimestamp"):
            return None
        data = data_of(secret)
        if not hmac.compare_digest(data.get("token-secret", "").encode(), token_secret.encode()):
            return None
        if data.get("token-id") != token_id or has_expired(secret, self.context.clock.now()):
            return None
        groups = extra_groups(data.get("auth-extra-groups", ""))
        if data.get("usage-bootstrap-authentication") != "true" or groups is None:
            return None
        return Authenticated(UserInfo(f"system:bootstrap:{token_id}", "", (GROUP, *groups)))

    def _secret(self, token_id: str) -> Object | None:
        try:
            return self.client.get(SECRETS, PREFIX + token_id, NAMESPACE)
        except NotFound:
            return None
        except ApiError as error:
            raise Unauthorized from error
