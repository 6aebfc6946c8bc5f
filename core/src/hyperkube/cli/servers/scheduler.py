"""kube-scheduler: finds a node for each pod."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from hyperkube.cli.flags.scheduler import FLAGS
from hyperkube.cli.lifecycle import Lifecycle, ends, stop_signal
from hyperkube.cli.server_command import Options, ServerCommand
from hyperkube.client.client import Client
from hyperkube.machinery.errors import UsageError

if TYPE_CHECKING:
    from hyperkube.scheduler.server import Scheduler


def start(life: Lifecycle, options: Options, client: Client, on_lost: Callable[[], None] | None = None) -> Scheduler:
    """Start the scheduler as the client's identity and return it; `on_lost`: leadership was lost."""
    from hyperkube.scheduler.server import Scheduler

    scheduler = Scheduler(client=client, options=options, on_lost=on_lost)
    life.start("the scheduler", scheduler)
    return scheduler


def run(options: Options) -> None:
    """Schedule until a signal, or until the leader's lease is lost."""
    from hyperkube.cli.remote import remote_client, serve_health
    from hyperkube.scheduler.endpoint import WithExplanations

    with stop_signal() as stopped, Lifecycle() as life:
        lost = threading.Event()
        scheduler = start(life, options, remote_client(options, "kube-scheduler"), ends(stopped, lost))
        metrics = scheduler.metrics.registry
        serve_health(life, options, lambda endpoints: WithExplanations(scheduler, endpoints), metrics)
        stopped.wait()
    if lost.is_set():
        raise UsageError("leaderelection lost")


COMMAND = ServerCommand(
    word="scheduler",
    name="kube-scheduler",
    long=(
        "The Kubernetes scheduler assigns pods to nodes: it keeps the nodes that can run a pod, ranks them by the"
        " enabled scoring plugins, and binds the pod to the best one."
    ),
    example="kube-scheduler --kubeconfig=scheduler.kubeconfig --algorithm-provider=ClusterAutoscalerProvider",
    flags=FLAGS,
    run=run,
)
