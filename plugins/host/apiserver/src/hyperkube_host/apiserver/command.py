"""kube-apiserver: the single entry point for every create, read, update, delete and watch of every object."""

from __future__ import annotations

from hyperkube_host.apiserver.flags import FLAGS

from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import Options, ServerCommand


def run(values: Options) -> None:
    """Serve until a signal."""
    # Imported once there is something to serve: help and version need none of it.
    from hyperkube_host.apiserver.completion import complete
    from hyperkube_host.apiserver.listeners import start

    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            start(life, complete(values))
        stopped.wait()


COMMAND = ServerCommand(
    word="apiserver",
    name="kube-apiserver",
    long=(
        "The Kubernetes API server validates and configures data for the API objects, which include pods, services and"
        " others, keeps them in its store, and is the shared state through which all other components interact."
    ),
    example="kube-apiserver --storage-backend=sqlite --data-dir=./data --authorization-mode=Node,RBAC"
    " --token-auth-file=tokens.csv",
    flags=FLAGS,
    run=run,
)
