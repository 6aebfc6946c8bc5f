"""cloud-controller-manager: nodes, load balancers and routes of a cluster, as its cloud has them."""

from hyperkube_host.cloud_controller_manager.manager import MANAGER
from hyperkube_lib.controller_manager.command import manager_command

COMMAND = manager_command(
    MANAGER,
    long=(
        "The Cloud controller manager is a daemon that embeds the cloud specific control loops shipped with Kubernetes:"
        " nodes learn where and what their machines are and go with them, Services of type LoadBalancer get balancers,"
        " and pod ranges get routes. The other servers are started with --cloud-provider=external."
    ),
    example="cloud-controller-manager --kubeconfig=cloud.kubeconfig --cloud-provider=fake --cloud-config=cloud.ini",
)
