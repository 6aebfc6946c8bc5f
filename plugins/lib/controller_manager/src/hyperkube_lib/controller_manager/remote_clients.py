"""How controllers reach the API server of another process: as the manager, or each as a service account of its own."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hyperkube.client.client import Client
from hyperkube.command.remote import remote_client
from hyperkube.machinery.users import SERVICE_ACCOUNT_PREFIX, UserInfo

if TYPE_CHECKING:
    from hyperkube.client.http import HttpClient
    from hyperkube.client.request_counts import RequestCounts

SERVICE_ACCOUNT_TOKEN_SECONDS = 3600


def remote_clients(
    options: Mapping[str, Any], user_agent: str, counts: RequestCounts | None = None
) -> Callable[[UserInfo], Client]:
    """Return a function from an identity to a client; `counts` is told of all requests.

    With ``--use-service-account-credentials`` a service account's client carries a token of its own, which the
    manager's own identity requests and renews; every other identity is the kubeconfig's.
    """
    own = remote_client(options, user_agent, counts)
    bearers: list[HttpClient] = []

    def client_for(user: UserInfo) -> Client:
        if not options.get("use-service-account-credentials") or not user.name.startswith(SERVICE_ACCOUNT_PREFIX):
            return own
        namespace, _, name = user.name.removeprefix(SERVICE_ACCOUNT_PREFIX).partition(":")
        token = _tokens(own, namespace, name)
        if not bearers:
            bearers.append(_bearer(options, token, name, counts))
            return bearers[0]
        # Dozens of identities with a few idle connections each would be most of what the API server has to hold.
        return bearers[0].as_bearer(token, name)

    return client_for


def _tokens(own: Client, namespace: str, name: str) -> Callable[[], str]:
    from hyperkube_lib.controller_manager.service_account import ServiceAccountTokens

    return ServiceAccountTokens(own, namespace, name, seconds=SERVICE_ACCOUNT_TOKEN_SECONDS).token


def _bearer(
    options: Mapping[str, Any], token: Callable[[], str], name: str, counts: RequestCounts | None
) -> HttpClient:
    from hyperkube.client.http import HttpClient
    from hyperkube.client.kubeconfig import read, resolve

    if not options["kubeconfig"]:
        return HttpClient(options["master"], token=token, user_agent=name, counts=counts)
    cluster = resolve(read(options["kubeconfig"])).cluster
    ca_data = cluster.get("certificate-authority-data", "")
    return HttpClient(
        options["master"] or cluster["server"],
        token=token,
        ca_data=b64decode(ca_data).decode(),
        ca_file="" if ca_data else cluster.get("certificate-authority", ""),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
        user_agent=name,
        counts=counts,
    )
