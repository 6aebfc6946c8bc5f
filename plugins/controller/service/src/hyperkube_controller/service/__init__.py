"""service: asks the cloud for a load balancer for each Service of type LoadBalancer, and gives it back.

Which cloud says ``--cloud-provider``; without one, or with one that has no load balancers, nothing happens. Services
with a ``loadBalancerClass`` are left to the implementation of that class.
Source: kubernetes ``staging/src/k8s.io/cloud-provider/controllers/service/controller.go``.
"""

from hyperkube_controller.service.controller import Service

__all__ = ["Service"]
