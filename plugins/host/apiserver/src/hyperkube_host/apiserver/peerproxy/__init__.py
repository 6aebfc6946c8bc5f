"""The mixed version proxy: a request for a resource that only another API server of the cluster serves goes there.

Source: kubernetes apiserver ``pkg/util/peerproxy``, ``pkg/reconcilers/peer_endpoint_lease.go``.
"""

from hyperkube_host.apiserver.peerproxy.proxy import PeerProxy, peer_proxy_of

__all__ = ["PeerProxy", "peer_proxy_of"]
