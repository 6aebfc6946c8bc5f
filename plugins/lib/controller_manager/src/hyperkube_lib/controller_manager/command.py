"""How a server that runs controllers is started, alone or within another program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_lib.controller_manager.options import ManagerOptions, ManagerSpec

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin.flags import FlagValues, merged, plugin_flags, typed

if TYPE_CHECKING:
    from hyperkube_lib.controller_manager.manager import ControllerManager
    from hyperkube_lib.serving.exchange import Handler

    from hyperkube.client.request_counts import RequestCounts
    from hyperkube.machinery.clock import Clock
    from hyperkube.plugin.flags import Flag


def manager_command(spec: ManagerSpec, *, long: str, example: str) -> ServerCommand:
    """Return the command line of a server."""
    return ServerCommand(
        name=spec.name, long=long, example=example, flags=spec.flags, run=partial(run, spec), families=spec.families
    )


def start(
    life: Lifecycle,
    options: ManagerOptions,
    client_for: Callable[[UserInfo], Client],
    on_lost: Callable[[], None] | None = None,
    clock: Clock | None = None,
) -> ControllerManager:
    """Start and return the manager, with clients that act as the user asked for; `on_lost`: leadership was lost."""
    from hyperkube_lib.controller_manager.manager import ControllerManager

    manager = ControllerManager(client_for=client_for, options=options, clock=clock, on_lost=on_lost)
    life.start(f"the {options.spec.name.removeprefix('kube-').replace('-', ' ')}", manager)
    return manager


def handler(manager: ControllerManager, options: ManagerOptions, counts: RequestCounts) -> Handler:
    """Return the handler of all that the manager serves; `counts` has its requests to the API server."""
    from hyperkube_lib.controller_manager.endpoint import manager_endpoints
    from hyperkube_lib.serving.component import ComponentHandler
    from hyperkube_lib.serving.zpages import Zpages

    from hyperkube.machinery.clock import SystemClock

    endpoints = manager_endpoints(manager, options, [counts])
    flagz = typed(_all_flags(options.spec), options.values)
    zpages = Zpages(options.spec.name, SystemClock(), flagz, endpoints.paths, options.gates)
    return ComponentHandler(endpoints, zpages)


def run(spec: ManagerSpec, values: FlagValues) -> None:
    """Run the controllers until a signal; a leader that loses its lease ends the process.

    Raises:
        UsageError: whatever the server finds wrong with its options.
    """
    from hyperkube_lib.component_base.process_memory import map_large_blocks, wait_until_stopped
    from hyperkube_lib.component_base.request_rate import request_counts
    from hyperkube_lib.component_base.start import begin
    from hyperkube_lib.controller_manager.remote_clients import remote_clients
    from hyperkube_lib.leader_election import end_at_once
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.secure_port import serve_secure

    values = begin(spec.name, _all_flags(spec), values)
    map_large_blocks()
    options = ManagerOptions.of(spec, values)
    counts = request_counts(values)
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            manager = start(life, options, remote_clients(values, spec.name, counts), end_at_once)
            served = handler(manager, options, counts)
            serve_secure(life, values, spec.name, served)
            if values["port"]:
                life.start("the HTTP port", Edge(served, host=values["address"], port=values["port"]))
        wait_until_stopped(stopped)


def _all_flags(spec: ManagerSpec) -> tuple[Flag, ...]:
    return merged(spec.name, spec.flags, plugin_flags(spec.name, spec.families))
