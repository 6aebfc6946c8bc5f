"""The egress selector: connections to nodes, pods, services and webhooks leave the server through proxies.

Source: kubernetes apiserver ``pkg/server/egressselector``.
"""

from hyperkube_host.apiserver.egress_selector.selector import open_selector

__all__ = ["open_selector"]
