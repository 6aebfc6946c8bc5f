"""bootstrapsigner: signs the public ``cluster-info``, so that a machine with a bootstrap token can trust it.

For each token that may sign there is a detached JSON web signature beside the kubeconfig, made with the token's secret.
Source: kubernetes ``pkg/controller/bootstrap/bootstrapsigner.go``, ``cluster-bootstrap/token/jws``.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterable
from datetime import datetime

import orjson
from hyperkube_lib.bootstrap_tokens import NAMESPACE, TYPE, data_of, has_expired, id_in_name

from hyperkube.client.actions import Action, Update, perform
from hyperkube.client.reconcile import ReconcileLoop
from hyperkube.hookspecs import hookimpl
from hyperkube.hookspecs.controller import Controller
from hyperkube.kinds.resources import CONFIG_MAPS, SECRETS
from hyperkube.machinery.objects import Object, is_being_deleted
from hyperkube.plugin import Plugin

NAME = "cluster-info"
KUBECONFIG = "kubeconfig"
SIGNATURE = "jws-kubeconfig-"


def token_of(secret: Object, now: datetime) -> tuple[str, str] | None:
    """Return (id, secret) of a token that may sign and has not expired, or None."""
    data = data_of(secret)
    token, key = data.get("token-id", ""), data.get("token-secret", "")
    if not token or not key or id_in_name(secret) != token or is_being_deleted(secret):
        return None
    if data.get("usage-bootstrap-signing") != "true" or has_expired(secret, now):
        return None
    return token, key


def sign(content: str, token: str, key: str) -> str:
    """Return the detached signature of a text: header, nothing, and the code, as RFC 7515 (appendix F) has it."""
    header = _encode(orjson.dumps({"alg": "HS256", "kid": token}))
    code = hmac.new(key.encode(), f"{header}.{_encode(content.encode())}".encode(), hashlib.sha256).digest()
    return f"{header}..{_encode(code)}"


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def decide(config_map: Object, secrets: Iterable[Object], now: datetime) -> list[Action]:
    """Return the update after which there is one signature for each token, or nothing."""
    data = config_map.get("data") or {}
    if KUBECONFIG not in data:
        return []
    tokens = [token for secret in secrets if (token := token_of(secret, now)) is not None]
    kept = {key: value for key, value in data.items() if not key.startswith(SIGNATURE)}
    signed = {f"{SIGNATURE}{token}": sign(data[KUBECONFIG], token, key) for token, key in tokens}
    wanted = {**kept, **signed}
    return [] if wanted == data else [Update(CONFIG_MAPS, {**config_map, "data": wanted})]


class Bootstrapsigner(Plugin):
    """Keeps the signatures of ``cluster-info`` in ``kube-public``."""

    @hookimpl
    def controller_build(self) -> Controller:
        """Build the loop."""
        self._config_maps = self.informers.informer(CONFIG_MAPS, "kube-public", f"metadata.name={NAME}")
        self._secrets = self.informers.informer(SECRETS, NAMESPACE, f"type={TYPE}")
        loop = ReconcileLoop(self.context.name, self._sync, clock=self.context.clock, logger=self.context.logger)

        def seen(_: Object) -> None:
            loop.queue.add(NAME)

        for informer in (self._config_maps, self._secrets):
            informer.add_handler(seen, lambda _old, new: seen(new), seen)
        return loop

    def _sync(self, _key: str) -> None:
        config_map = self._config_maps.get("kube-public", NAME)
        if config_map is not None:
            perform(self.client, None, decide(config_map, self._secrets.list(), self.context.clock.now()))
