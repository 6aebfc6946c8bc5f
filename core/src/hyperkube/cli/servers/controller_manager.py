"""kube-controller-manager: the loops that move the cluster from what is towards what is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hyperkube.cli.flags.controller_manager import FLAGS
from hyperkube.cli.lifecycle import Lifecycle, ends, start_up, stop_signal
from hyperkube.cli.server_command import Options, ServerCommand
from hyperkube.client.client import Client
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo


def start(
    life: Lifecycle,
    options: Options,
    client_for: Callable[[UserInfo], Client],
    on_lost: Callable[[], None] | None = None,
) -> None:
    """Start the manager with clients that act as whoever is asked for; `on_lost`: leadership was lost."""
    from hyperkube.controllers.manager import ControllerManager

    life.start("the controller manager", ControllerManager(client_for=client_for, options=options, on_lost=on_lost))


def run(options: Options) -> None:
    """Run the controllers until a signal, or until the leader's lease is lost."""
    from hyperkube.cli.remote import remote_clients, serve_health

    with stop_signal() as stopped, Lifecycle() as life:
        lost = threading.Event()
        with start_up():
            start(life, options, remote_clients(options, "kube-controller-manager"), ends(stopped, lost))
            serve_health(life, options)
        stopped.wait()
    if lost.is_set():
        raise UsageError("leaderelection lost")


COMMAND = ServerCommand(
    word="controller-manager",
    name="kube-controller-manager",
    long=(
        "The Kubernetes controller manager runs the core control loops. A control loop watches the shared state of the"
        " cluster through the API server and makes changes to move the current state towards the desired one."
    ),
    example="kube-controller-manager --kubeconfig=controller-manager.kubeconfig --controllers='*,-job'",
    flags=FLAGS,
    run=run,
)
