"""load-balancer-announcer: where on the network an address of a load balancer is, told by ARP and NDP.

Of the nodes on which the addon runs, one answers for each address: `speakers` says which, `neighbours` does it,
`packets` knows the formats, `addon` watches the cluster.
"""

from hyperkube_addon.load_balancer_announcer.addon import LoadBalancerAnnouncer

__all__ = ["LoadBalancerAnnouncer"]
