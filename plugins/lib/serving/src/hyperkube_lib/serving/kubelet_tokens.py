"""How an API server without ``--kubelet-client-certificate`` proves to a kubelet who it is.

It shows a bearer token that is good for one kubelet, for a minute or two. The kubelet has it reviewed, as it does with
every token, and names itself as the audience. In that review alone the token counts: as a credential for the API it is
worth nothing, and neither is it for another kubelet. So it may be shown to a kubelet whose certificate is not checked.
API servers with the same key for service-account tokens know each other's.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from pathlib import Path

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.users import UserInfo

PREFIX = "kubelet-client-token."
SECONDS = 60
USER = UserInfo("kube-apiserver-kubelet-client", "", ("system:masters",))
"""Source of the name: kubernetes ``cmd/kubeadm/app/constants`` (APIServerKubeletClientCertCommonName)."""
_AUDIENCE = "system:node:"
_DIGITS = 12
"""Of a time in seconds; more of them are slow to read, and none of ours."""


def audiences_of(token: str, node: str) -> Sequence[str]:
    """Return the audiences to have a token reviewed for by a node's kubelet; none for the API server's own."""
    return [_AUDIENCE + node] if token.startswith(PREFIX) else []


class KubeletTokens:
    """Makes tokens for kubelets and recognises them.

    Args:
        clock: says how long they are good.
        key_file: from which the secret is derived; empty for a secret of this process.
    """

    def __init__(self, clock: Clock, key_file: str = "") -> None:
        self._clock = clock
        self._key_file = key_file
        self._secret = b""

    def token(self, node: str) -> str:
        """Return a token for the kubelet of a node; the same again for a while, so that kubelets remember it."""
        end = (int(self._clock.now().timestamp()) // SECONDS + 2) * SECONDS
        return f"{PREFIX}{end}.{self._digest(node, end)}"

    def user(self, token: str, audiences: Sequence[str]) -> UserInfo | None:
        """Return who showed a token to the kubelet that has it reviewed for these audiences; None: not one of ours."""
        end, _, digest = token.removeprefix(PREFIX).partition(".")
        if not token.startswith(PREFIX) or not end.isdecimal() or len(end) > _DIGITS or len(audiences) != 1:
            return None
        node = audiences[0].removeprefix(_AUDIENCE)
        if node == audiences[0] or int(end) <= self._clock.now().timestamp():
            return None
        return USER if hmac.compare_digest(digest.encode(), self._digest(node, int(end)).encode()) else None

    def _digest(self, node: str, end: int) -> str:
        if not self._secret:
            key = Path(self._key_file).read_bytes() if self._key_file else secrets.token_bytes(32)
            self._secret = hashlib.sha256(PREFIX.encode() + key).digest()
        return hmac.new(self._secret, f"{node}\n{end}".encode(), "sha256").hexdigest()
