"""From the configuration to what dials."""

from __future__ import annotations

from collections.abc import Mapping

from hyperkube_host.apiserver.egress_selector.configuration import DIRECT, GRPC, read_selections
from hyperkube_host.apiserver.egress_selector.dialer import ProxyDialer

from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import UsageError

FLAG = "--egress-selector-config-file"


def open_selector(path: str) -> Mapping[str, Dial]:
    """Return what dials, by the name of the selection; what is missing, or Direct, is connected to directly.

    ``cluster``: nodes, pods, services, extension API servers, and webhooks that are services. ``controlplane``:
    webhooks with a URL, those of authentication, authorization and audit among them. ``etcd``: the members of
    ``--etcd-servers``. Issuers of OIDC say themselves by which they are reached, by ``egressSelectorType``, or are
    reached directly.

    Raises:
        UsageError: the file is wrong, or asks for what cannot be done.
    """
    dials: dict[str, Dial] = {}
    for selection in read_selections(path) if path else ():
        if selection.protocol == GRPC:
            raise UsageError(f"{FLAG}: {selection.name}: proxyProtocol GRPC is not built; HTTPConnect is")
        if selection.protocol == DIRECT or selection.proxy is None:
            continue
        dials[selection.name] = ProxyDialer(selection.proxy)
    return dials
