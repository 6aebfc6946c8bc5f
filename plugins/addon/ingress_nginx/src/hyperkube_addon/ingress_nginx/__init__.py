"""ingress-nginx: Ingress served by nginx.

`routing` finds which backend each host and path has, `configuration` writes that down for nginx, `program` runs it, and
`addon` watches the cluster and tells Ingresses their address.
"""

from hyperkube_addon.ingress_nginx.addon import IngressNginx

__all__ = ["IngressNginx"]
