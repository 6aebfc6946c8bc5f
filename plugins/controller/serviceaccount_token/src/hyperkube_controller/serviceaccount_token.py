"""serviceaccount-token: a secret that asks for a service account's token gets one, and goes when its account does.

Such a secret has the type ``kubernetes.io/service-account-token`` and names its account in an annotation; its token
never expires. Without ``--service-account-private-key-file`` there is nothing to sign with, and nothing is done.
Source: kubernetes ``pkg/controller/serviceaccount/tokens_controller.go``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from hyperkube_lib.service_account_tokens import LEGACY_ISSUER, TokenIssuer

from hyperkube.client.actions import Action, Delete, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import SECRETS, SERVICE_ACCOUNTS
from hyperkube.machinery.errors import NotFound, UsageError
from hyperkube.machinery.objects import (
    Object,
    annotations_of,
    key_of,
    metadata,
    name_of,
    namespace_of,
    split_key,
    uid_of,
)
from hyperkube.machinery.record import Record
from hyperkube.plugin import Plugin

TYPE = "kubernetes.io/service-account-token"
ACCOUNT = "kubernetes.io/service-account.name"
ACCOUNT_UID = "kubernetes.io/service-account.uid"

_GONE = "gone:"

Sign = Callable[[Object, Object], str]
"""(account, secret) → token."""


def account_of(secret: Object) -> str:
    """Return the name of the account whose token a secret holds or wants, or the empty string."""
    return annotations_of(secret).get(ACCOUNT, "") if secret.get("type") == TYPE else ""


def decide(secret: Object, account: Object | None, authority: bytes, sign: Sign) -> list[Action]:
    """Return what makes the secret whole, or its deletion when its account is gone.

    Args:
        secret: one of the type above that names an account.
        account: the account of that name, if there is one.
        authority: the CA that the secret tells of, PEM; empty for none.
        sign: makes the token.
    """
    uid = annotations_of(secret).get(ACCOUNT_UID, "")
    if account is None or (uid and uid != uid_of(account)):
        return [Delete.of(SECRETS, secret)]
    data = dict(secret.get("data") or {})
    wanted: dict[str, str] = {}
    if authority:
        wanted["ca.crt"] = b64encode(authority).decode()
    if not data.get("namespace"):  # another one is the author's
        wanted["namespace"] = b64encode(namespace_of(secret).encode()).decode()
    if not data.get("token"):
        wanted["token"] = b64encode(sign(account, secret).encode()).decode()
    if wanted.items() <= data.items():
        return []
    meta = {**metadata(secret), "annotations": {**annotations_of(secret), ACCOUNT_UID: uid_of(account)}}
    return [Update(SECRETS, {**secret, "metadata": meta, "data": {**data, **wanted}})]


def without_secret(account: Object, secret: str) -> list[Action]:
    """Return the update of an account that still lists a deleted token secret."""
    listed = account.get("secrets") or []
    left = [entry for entry in listed if entry.get("name") != secret]
    return [] if left == listed else [Update(SERVICE_ACCOUNTS, {**account, "secrets": left})]


def _by_account(secret: Object) -> tuple[str, ...]:
    name = account_of(secret)
    return (f"{namespace_of(secret)}/{name}",) if name else ()


class Settings(Record):
    """The key that signs tokens, the CA that is put beside them, and how many are made at once."""

    service_account_private_key_file: str = ""
    root_ca_file: str = ""
    concurrent_serviceaccount_token_syncs: int = 5


class ServiceaccountToken(Plugin):
    """Fills the token secrets of service accounts."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop; keys are those of secrets, and of what is left of deleted ones.

        Raises:
            UsageError: the key or the CA cannot be read.
        """
        settings = self.settings(Settings)
        self._loop = ReconcileLoop(
            self.context.name,
            self._sync,
            clock=self.context.clock,
            logger=self.context.logger,
            workers=settings.concurrent_serviceaccount_token_syncs,
        )
        self._key_file = settings.service_account_private_key_file
        self._issuer: TokenIssuer | None = None
        if not self._key_file:
            return self._loop
        ca_file = settings.root_ca_file
        for file in filter(None, (self._key_file, ca_file)):
            if not Path(file).is_file():
                raise UsageError(f"cannot read {file!r}")
        self._authority = Path(ca_file).read_bytes() if ca_file else b""
        self._secrets = self.informers.informer(SECRETS, field_selector=f"type={TYPE}")
        self._secrets.add_index("account", _by_account)
        self._accounts = self.informers.informer(SERVICE_ACCOUNTS)
        self._secrets.add_handler(self._loop.enqueue, self._loop.enqueue_update, self._secret_gone)
        self._accounts.add_handler(self._account_seen, on_delete=self._account_seen)
        return self._loop

    def _account_seen(self, account: Object) -> None:
        for secret in self._secrets.by_index("account", key_of(account)):
            self._loop.enqueue(secret)

    def _secret_gone(self, secret: Object) -> None:
        if account_of(secret):
            uid = annotations_of(secret).get(ACCOUNT_UID, "")
            parts = (namespace_of(secret), name_of(secret), account_of(secret), uid)
            self._loop.queue.add(_GONE + "/".join(parts))

    def _sync(self, key: str) -> None:
        if key.startswith(_GONE):
            self._forget(*key.removeprefix(_GONE).split("/"))
            return
        secret = self._secrets.get(*split_key(key))
        if secret is None or not account_of(secret):
            return
        account = self._find(namespace_of(secret), account_of(secret))
        perform(self.client, None, decide(secret, account, self._authority, self._sign))

    def _forget(self, namespace: str, secret: str, name: str, uid: str) -> None:
        """Take a deleted secret off its account's list."""
        try:
            account = self.client.get(SERVICE_ACCOUNTS, name, namespace)
            if not uid or uid == uid_of(account):
                perform(self.client, None, without_secret(account, secret))
        except NotFound:
            return  # the account went too

    def _find(self, namespace: str, name: str) -> Object | None:
        """Return the account; that it is gone is believed from the server alone."""
        found = self._accounts.get(namespace, name)
        if found is not None:
            return found
        try:
            return self.client.get(SERVICE_ACCOUNTS, name, namespace)
        except NotFound:
            return None

    def _sign(self, account: Object, secret: Object) -> str:
        if self._issuer is None:  # most clusters never need one: the key is read with the first secret
            self._issuer = TokenIssuer.from_file(self._key_file, LEGACY_ISSUER, self.context.clock)
        return self._issuer.issue_legacy(namespace=namespace_of(secret), account=account, secret=secret)
