"""kube-scheduler: finds a node for each pod."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from hyperkube_host.scheduler.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.scheduler.options import ConfigurationOptions, SchedulerOptions

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.scheduler.scheduler import Scheduler
    from hyperkube_lib.serving.exchange import Handler

    from hyperkube.client.request_counts import RequestCounts
    from hyperkube.machinery.clock import Clock


def start(
    life: Lifecycle,
    options: SchedulerOptions,
    client: Client,
    on_lost: Callable[[], None] | None = None,
    clock: Clock | None = None,
) -> Scheduler:
    """Start the scheduler as the client's identity and return it; `on_lost`: leadership was lost."""
    from hyperkube_host.scheduler.scheduler import Scheduler

    scheduler = Scheduler(client=client, options=options, clock=clock, on_lost=on_lost)
    life.start("the scheduler", scheduler)
    return scheduler


def handler(scheduler: Scheduler, options: SchedulerOptions, counts: RequestCounts) -> Handler:
    """Return the handler of all that the scheduler serves; `counts` has its requests to the API server."""
    from hyperkube_host.scheduler.endpoint import scheduler_endpoints, with_explanations
    from hyperkube_lib.serving.zpages import Zpages

    from hyperkube.machinery.clock import SystemClock

    endpoints = scheduler_endpoints(scheduler, options, [counts])
    flagz = typed(COMMAND.all_flags(), options.values)
    pages = Zpages(COMMAND.name, SystemClock(), flagz, endpoints.paths, options.gates)
    return with_explanations(scheduler, endpoints, pages)


def run(values: FlagValues) -> None:
    """Schedule until a signal; a leader that loses its lease ends the process. Or write the configuration and end."""
    from hyperkube_lib.component_base.process_memory import map_large_blocks, wait_until_stopped
    from hyperkube_lib.component_base.request_rate import request_counts
    from hyperkube_lib.component_base.start import begin
    from hyperkube_lib.leader_election import end_at_once

    values = begin(COMMAND.name, COMMAND.all_flags(), values)
    map_large_blocks()
    if values["config"]:
        from hyperkube_host.scheduler.config.server_fields import with_server_fields

        values = with_server_fields(values["config"], COMMAND.all_flags(), values)
    options = SchedulerOptions.of(values)
    if values["write-config-to"]:
        write_configuration(values)
        return
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.secure_port import serve_secure

    from hyperkube.command.remote import remote_client

    counts = request_counts(values)

    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            scheduler = start(life, options, remote_client(values, COMMAND.name, counts), end_at_once)
            served = handler(scheduler, options, counts)
            serve_secure(life, values, COMMAND.name, served)
            if values["port"]:
                life.start("the HTTP port", Edge(served, host=values["address"], port=values["port"]))
        wait_until_stopped(stopped)


def write_configuration(values: FlagValues) -> None:
    """Write what the flags come down to, as a KubeSchedulerConfiguration, to the file of ``--write-config-to``.

    Raises:
        UsageError: the configuration is wrong, or the file cannot be written.
    """
    from hyperkube_host.scheduler.config.configuration import to_object
    from hyperkube_host.scheduler.config.sources import Source
    from hyperkube_lib.serving.yaml import dumps

    from hyperkube.command.remote import remote_client

    client = remote_client(values, COMMAND.name) if values["policy-configmap"] else None
    written = dumps(to_object(Source(ConfigurationOptions.of(values), client).read()))
    path = Path(values["write-config-to"])
    try:
        path.write_bytes(written)
    except OSError as error:
        raise UsageError(f"cannot write {str(path)!r}: {error.strerror}") from error


COMMAND = ServerCommand(
    name=NAME,
    long=(
        "The Kubernetes scheduler assigns pods to nodes: it keeps the nodes that can run a pod, ranks them by the"
        " enabled scoring plugins, and binds the pod to the best one."
    ),
    example="kube-scheduler --kubeconfig=scheduler.kubeconfig --algorithm-provider=ClusterAutoscalerProvider",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
