"""network-policy: who may talk to whom, by networking.k8s.io/v1, as nftables rules of the node.

`resolution` finds the pods and ports that policies speak of, `ruleset` makes the rules of them, `table` the transaction
that leads there from the rules before, all without a look at anything else; `addon` watches the cluster and hands each
transaction to the kernel.
"""

from hyperkube_addon.network_policy.addon import NetworkPolicies

__all__ = ["NetworkPolicies"]
