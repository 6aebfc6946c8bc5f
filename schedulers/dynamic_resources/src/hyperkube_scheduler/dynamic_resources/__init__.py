"""DynamicResources: a pod goes where the devices are that its claims ask for.

The plugin (`plugin`) looks a pod's claims up (`claims`), the allocator (`allocator`) searches devices for those that
have none yet among a node's pools (`pools`), and what it finds is written to the claims before the pod is bound.
"""

from hyperkube_scheduler.dynamic_resources.plugin import DynamicResources

__all__ = ["DynamicResources"]
