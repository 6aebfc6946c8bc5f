"""kube-apiserver: the single entry point for every create, read, update, delete and watch of every object."""

from __future__ import annotations

from hyperkube_host.apiserver.flags import FAMILIES, FLAGS, NAME

from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.plugin.flags import FlagValues


def run(values: FlagValues) -> None:
    """Serve until a signal."""
    from hyperkube_lib.component_base.process_memory import wait_until_stopped
    from hyperkube_lib.component_base.service_manager import READY, notify
    from hyperkube_lib.component_base.start import begin

    values = begin(COMMAND.name, COMMAND.all_flags(), values)
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            # Imported once there is something to serve: help and version need none of it.
            from hyperkube_host.apiserver.completion import complete
            from hyperkube_host.apiserver.listeners import start

            start(life, complete(values))
        notify(READY)
        wait_until_stopped(stopped)


COMMAND = ServerCommand(
    name=NAME,
    long=(
        "The Kubernetes API server validates and configures data for the API objects, which include pods, services and"
        " others, keeps them in its store, and is the shared state through which all other components interact."
    ),
    example="kube-apiserver --storage-backend=sqlite --data-dir=./data --authorization-mode=Node,RBAC"
    " --token-auth-file=tokens.csv",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
