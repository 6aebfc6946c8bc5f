"""Authentication and authorization of the kubelet's API: which permission on the node a path needs.

Sources: kubernetes ``pkg/kubelet/server/auth.go`` (attributes), ``pkg/kubelet/server/server.go`` (InstallAuthFilter)
and ``cmd/kubelet/app/auth.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperkube_host.kubelet.options import KubeletOptions
from hyperkube_lib.serving.delegated_authentication import DelegatedAuthentication
from hyperkube_lib.serving.delegated_authorization import AccessUnknown, DelegatedAuthorization
from hyperkube_lib.serving.exchange import HttpRequest
from hyperkube_lib.serving.kubelet_tokens import audiences_of

from hyperkube.client.client import Client
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.errors import Forbidden, InternalError
from hyperkube.machinery.users import UserInfo

_VERBS = {"GET": "get", "HEAD": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_SUBRESOURCES = (
    ("/stats", ("stats",)),
    ("/metrics", ("metrics",)),
    ("/logs", ("log",)),
    ("/checkpoint", ("checkpoint",)),
    ("/pods", ("pods", "proxy")),
    ("/runningpods", ("pods", "proxy")),
    ("/healthz", ("healthz", "proxy")),
    ("/configz", ("configz", "proxy")),
    ("/statusz", ("statusz",)),
    ("/flagz", ("configz",)),
)
"""The narrow subresource comes first, then the wide one of older roles."""
_COMMANDS = frozenset({"exec", "attach", "run", "portForward"})
"""What runs something or reaches into a pod: reading alone does not allow it, with whatever method it is asked for."""


class KubeletAuth:
    """Authenticates and authorizes requests to the kubelet."""

    def __init__(self, options: KubeletOptions, client: Client | None, clock: Clock) -> None:
        """Ask `client`; without one, as on a node that stands alone, tokens are unknown and nothing is allowed.

        Raises:
            UsageError: the file of client authorities cannot be read, or holds no certificate.
        """
        self._node_name = options.node.name
        self._always_allows = options.server.authorization_mode == "AlwaysAllow"
        self._authentication = DelegatedAuthentication(
            clock,
            client if options.server.token_webhook else None,
            client_ca_file=options.server.client_ca_file,
            anonymous=options.server.anonymous,
            token_seconds=options.values["authentication-token-webhook-cache-ttl"],
            audiences=lambda token: audiences_of(token, options.node.name),
        )
        self._authorization = DelegatedAuthorization(
            clock,
            client,
            allowed_seconds=options.values["authorization-webhook-cache-authorized-ttl"],
            denied_seconds=options.values["authorization-webhook-cache-unauthorized-ttl"],
        )

    def check(self, request: HttpRequest) -> UserInfo:
        """Return the user of a request that is allowed.

        Raises:
            Unauthorized: the request has no valid credentials.
            Forbidden: the user is not allowed to send it.
            InternalError: the API server could not be asked.
        """
        user = request.user if request.user is not None else self._authentication.authenticate(request)
        if not self._always_allows:
            for verb in verbs(request.method, request.path):
                self._authorize(user, verb, subresources(request.path))
        return user

    def _authorize(self, user: UserInfo, verb: str, subs: Sequence[str]) -> None:
        """Ask for one permission after the other until one is given."""
        for sub in subs:
            wanted = {
                "verb": verb,
                "version": "v1",
                "resource": "nodes",
                "subresource": sub,
                "name": self._node_name,
            }
            try:
                if self._authorization.allows(user, resource=wanted):
                    return
            except AccessUnknown as error:
                what = f"user={user.name}, verb={verb}, resource=nodes, subresource={sub}"
                raise InternalError(f"Authorization error ({what})") from error
        what = f"verb={verb}, resource=nodes, subresource(s)=[{' '.join(subs)}]"
        raise Forbidden(f"Forbidden (user={user.name}, {what})")


def verbs(method: str, path: str) -> Sequence[str]:
    """Return the verbs all of which must be allowed: a WebSocket's GET creates as SPDY's POST does."""
    verb = _VERBS.get(method, "")
    head = next((part for part in path.split("/") if part), "")
    return (verb, "create") if head in _COMMANDS and verb != "create" else (verb,)


def subresources(path: str) -> Sequence[str]:
    """Return the subresources of nodes of which one must be allowed for a path of the kubelet's API."""
    for prefix, names in _SUBRESOURCES:
        if path == prefix or path.startswith(prefix + "/"):
            return names
    return ("proxy",)
