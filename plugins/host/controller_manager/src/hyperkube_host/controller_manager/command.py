"""kube-controller-manager: the loops that move the cluster from what is towards what is wanted."""

from hyperkube_host.controller_manager.manager import MANAGER
from hyperkube_lib.controller_manager.command import manager_command

COMMAND = manager_command(
    MANAGER,
    long=(
        "The Kubernetes controller manager runs the core control loops. A control loop watches the shared state of the"
        " cluster through the API server and makes changes to move the current state towards the desired one."
    ),
    example="kube-controller-manager --kubeconfig=controller-manager.kubeconfig --controllers='*,-job'",
)
