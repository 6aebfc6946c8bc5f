"""network-policy: who may talk to whom, by networking.k8s.io/v1, as nftables rules of the node.

`resolution` finds the pods and ports that policies speak of, `ruleset` writes them down for nftables, both without a
look at anything else; `addon` watches the cluster and hands each new text to the kernel as one transaction.
"""

from hyperkube_addon.network_policy.addon import NetworkPolicies

__all__ = ["NetworkPolicies"]
