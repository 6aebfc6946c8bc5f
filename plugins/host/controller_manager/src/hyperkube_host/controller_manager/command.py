"""kube-controller-manager: the loops that move the cluster from what is towards what is wanted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube_host.controller_manager.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.controller_manager.options import ControllerManagerOptions

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, ends, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.controller_manager.manager import ControllerManager
    from hyperkube_lib.serving.exchange import Handler

    from hyperkube.client.request_counts import RequestCounts
    from hyperkube.machinery.clock import Clock


def start(
    life: Lifecycle,
    options: ControllerManagerOptions,
    client_for: Callable[[UserInfo], Client],
    on_lost: Callable[[], None] | None = None,
    clock: Clock | None = None,
) -> ControllerManager:
    """Start and return the manager, with clients that act as the user asked for; `on_lost`: leadership was lost."""
    from hyperkube_host.controller_manager.manager import ControllerManager

    manager = ControllerManager(client_for=client_for, options=options, clock=clock, on_lost=on_lost)
    life.start("the controller manager", manager)
    return manager


def handler(manager: ControllerManager, options: ControllerManagerOptions, counts: RequestCounts) -> Handler:
    """Return the handler of all that the manager serves; `counts` has its requests to the API server."""
    from hyperkube_host.controller_manager.endpoint import manager_endpoints
    from hyperkube_lib.serving.component import ComponentHandler
    from hyperkube_lib.serving.zpages import Zpages

    from hyperkube.machinery.clock import SystemClock

    endpoints = manager_endpoints(manager, options, [counts])
    flagz = typed(COMMAND.all_flags(), options.values)
    zpages = Zpages(COMMAND.name, SystemClock(), flagz, endpoints.paths, options.gates)
    return ComponentHandler(endpoints, zpages)


def run(values: FlagValues) -> None:
    """Run the controllers until a signal, or until the leader's lease is lost."""
    from hyperkube_lib.component_base.request_rate import request_counts
    from hyperkube_lib.component_base.start import begin
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.secure_port import serve_secure

    from hyperkube.command.remote import remote_clients

    values = begin(COMMAND.name, COMMAND.all_flags(), values)
    options = ControllerManagerOptions.of(values)
    counts = request_counts(values)
    with stop_signal() as stopped, Lifecycle() as life:
        lost = threading.Event()
        with start_up():
            manager = start(life, options, remote_clients(values, COMMAND.name, counts), ends(stopped, lost))
            served = handler(manager, options, counts)
            serve_secure(life, values, COMMAND.name, served)
            if values["port"]:
                life.start("the HTTP port", Edge(served, host=values["address"], port=values["port"]))
        stopped.wait()
    if lost.is_set():
        raise UsageError("leaderelection lost")


COMMAND = ServerCommand(
    name=NAME,
    long=(
        "The Kubernetes controller manager runs the core control loops. A control loop watches the shared state of the"
        " cluster through the API server and makes changes to move the current state towards the desired one."
    ),
    example="kube-controller-manager --kubeconfig=controller-manager.kubeconfig --controllers='*,-job'",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
