"""dns: the cluster's DNS server, by the specification 1.1.0 of DNS-based service discovery in Kubernetes.

`records` makes names of Services and endpoints, `zone` answers a question from them, `forwarding` asks others about all
other names; `messages` knows the wire, `server` has the sockets; `addon` brings them into a cluster as ``kube-dns``.
"""

from hyperkube_addon.dns.addon import Dns

__all__ = ["Dns"]
