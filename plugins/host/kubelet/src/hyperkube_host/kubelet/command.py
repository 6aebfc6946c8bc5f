"""kubelet: runs the pods of one node."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from hyperkube_host.kubelet.flags import FAMILIES, FLAGS, NAME
from hyperkube_host.kubelet.options import DOCKER, KubeletOptions, is_configuration

from hyperkube.client.client import Client
from hyperkube.command.lifecycle import Lifecycle, StopSignal, start_up, stop_signal
from hyperkube.command.server_command import ServerCommand
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.objects import Object
from hyperkube.plugin.flags import FlagValues, typed

if TYPE_CHECKING:
    from hyperkube_host.kubelet.kubelet import Kubelet
    from hyperkube_host.kubelet.server_options import ServerOptions
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.loop import EdgeLoop
    from hyperkube_lib.serving.tls import TlsFiles

    from hyperkube.machinery.clock import Clock

MOUNT_PROPAGATION = "MountPropagation"
LOCK_POLL_SECONDS = 0.2
REQUEST_POLL_SECONDS = 1.0
"""How often a kubelet that bootstraps looks whether it has its certificate."""


def options_of(values: FlagValues) -> KubeletOptions:
    """Return the options of a kubelet that shows the values of its flags at ``/flagz``.

    Raises:
        UsageError: a value that cannot be.
    """
    from hyperkube_host.kubelet.validation import validate
    from hyperkube_lib.component_base.feature_gates import check_gates

    path, folder = values["config"] if is_configuration(values["config"]) else "", values["config-dir"]
    if path or folder:
        from hyperkube_host.kubelet.config.configuration_file import with_configuration

        values = with_configuration(path, folder, COMMAND.all_flags(), values)
        check_gates(values["feature-gates"], COMMAND.all_flags())
    validate(values)
    return KubeletOptions.of(values, flagz=typed(COMMAND.all_flags(), values))


def start(
    life: Lifecycle,
    options: KubeletOptions,
    client: Client | None,
    loop: EdgeLoop | None = None,
    clock: Clock | None = None,
) -> Kubelet:
    """Start the kubelet and its API; return it.

    Raises:
        UsageError: a plugin cannot be used, a certificate cannot be written, or the address cannot be bound.
    """
    from hyperkube_host.kubelet.kubelet import Kubelet

    kubelet = Kubelet(client=client, options=options, clock=clock)
    if options.server.is_serving:
        life.start("the kubelet's API", edge_of(kubelet, loop))
    life.start("the kubelet", kubelet)
    return kubelet


def edge_of(kubelet: Kubelet, loop: EdgeLoop | None = None) -> Edge:
    """Return what serves a kubelet's API, on a loop of its own unless one is given; it is not started.

    Raises:
        UsageError: a certificate cannot be written.
    """
    from hyperkube_lib.serving.edge import Edge
    from hyperkube_lib.serving.limits import EdgeLimits

    server, tls = kubelet.options.server, _tls_files(kubelet.options)
    limits = EdgeLimits(stream_idle_timeout=server.stream_idle_seconds)
    return Edge(
        kubelet.handler,
        host=server.address,
        port=server.port,
        tls=tls,
        loop=loop,
        limits=limits,
        shared=server.permit_port_sharing,
    )


def _tls_files(options: KubeletOptions) -> TlsFiles:
    from hyperkube_lib.serving.serving_certificates import serving_pair
    from hyperkube_lib.serving.tls import TlsFiles, openssl_ciphers

    server, node = options.server, options.node
    addresses = ["127.0.0.1", *([server.address] if server.address else []), *node.ips]
    given = (server.tls_cert_file, server.tls_private_key_file)
    cert, key = serving_pair(given, server.cert_dir, "kubelet", dns=[node.name, "localhost"], ips=addresses)
    if options.server.rotates_server_certificate and not any(given):
        from hyperkube_host.kubelet.certificate.rotation import first_serving_pair

        cert = key = first_serving_pair(server.cert_dir, cert, key)
    return TlsFiles(
        cert_file=cert,
        key_file=key,
        client_ca_file=server.client_ca_file,
        min_version=server.tls_min_version,
        ciphers=openssl_ciphers(server.tls_cipher_suites),
    )


def serve(life: Lifecycle, server: ServerOptions, kubelet: Kubelet) -> None:
    """Serve on the ports without authentication that the flags name.

    Raises:
        UsageError: an address cannot be bound.
    """
    from hyperkube_host.kubelet.server.open_ports import cadvisor_port, health_port, read_only_port
    from hyperkube_lib.serving.edge import Edge

    if server.healthz_port:
        health = health_port(kubelet.pleg.unhealthy)
        life.start("the health port", Edge(health, host=server.healthz_address, port=server.healthz_port))
    if server.enabled and server.read_only_port:
        handler = read_only_port(kubelet.handler)
        life.start("the read-only port", Edge(handler, host=server.address, port=server.read_only_port))
    if server.cadvisor_port:
        cadvisor = cadvisor_port(kubelet.handler)
        life.start("cAdvisor's port", Edge(cadvisor, host=server.address, port=server.cadvisor_port))


def join(options: KubeletOptions, kubeconfig: str, bootstrap_kubeconfig: str, pause: Callable[[], bool]) -> None:
    """Request a client certificate with the credentials of ``--bootstrap-kubeconfig``, unless there is a valid one.

    Raises:
        UsageError: none was issued.
    """
    from hyperkube_host.kubelet.certificate.bootstrap import bootstrap

    from hyperkube.machinery.clock import SystemClock

    bootstrap(
        kubeconfig_file=kubeconfig,
        bootstrap_file=bootstrap_kubeconfig,
        folder=str(options.server.cert_dir),
        node=options.node.name,
        clock=SystemClock(),
        pause=pause,
    )


def _client(values: FlagValues, user_agent: str) -> Client | None:
    """Return how the API server is reached, None for a kubelet that stands alone.

    Raises:
        UsageError: the credentials cannot be used.
    """
    from hyperkube_lib.component_base.request_rate import request_counts

    from hyperkube.command.remote import remote_client

    if values["chaos-chance"]:
        from random import Random

        from hyperkube_host.kubelet.intercepted_clients import with_chaos

        calm = FlagValues({**values, "chaos-chance": 0.0}, values.given)
        found = _client(calm, user_agent)
        return found and with_chaos(found, values["chaos-chance"], Random())  # noqa: S311  breaks things, guards nothing
    if values["auth-path"]:
        from hyperkube_host.kubelet.certificate.auth_file import client_by_auth_file

        return client_by_auth_file(values, user_agent)
    if not (values["kubeconfig"] or values["master"] or values["api-servers"]):
        return None
    from hyperkube_lib.http2.watch_streams import Http2Streams

    return remote_client(values, user_agent, request_counts(values), streams=Http2Streams)


def rotate_certificates(
    life: Lifecycle, options: KubeletOptions, client: Client, kubelet: Kubelet, kubeconfig: str
) -> None:
    """Renew the certificates that flags say are to be."""
    if not (options.server.rotates_client_certificate or options.server.rotates_server_certificate):
        return
    from hyperkube_host.kubelet.certificate.rotation import managers

    def addresses() -> list[Object]:
        return list((kubelet.node.node().get("status") or {}).get("addresses") or ())

    for manager in managers(options, client, addresses, kubeconfig):
        life.start("a certificate manager", manager)


def run_local_pods(values: FlagValues) -> None:
    """Start the static pods and end; they run on.

    Raises:
        UsageError: a flag asks for more than local pods, or a pod does not run.
    """
    from hyperkube_host.kubelet.runonce import only_local, run_once

    from hyperkube.machinery.clock import SystemClock

    with Lifecycle() as life:
        kubelet = start(life, options_of(only_local(values)), None)
        started = run_once(kubelet, SystemClock())
    logging.getLogger("hyperkube.kubelet").info("started %d pods: %s", len(started), ", ".join(started))


def run_dockershim(values: FlagValues) -> None:
    """Start the runtime docker, which serves CRI, and the network plugin, and nothing else, until a signal.

    Source: kubernetes 1.20 ``cmd/kubelet/app/server.go`` (RunDockershim).

    Raises:
        UsageError: Docker does not answer, or its socket of CRI cannot be made.
    """
    from hyperkube_host.kubelet.kubelet_plugins import load_plugins

    from hyperkube.machinery.clock import SystemClock

    options = options_of(values.with_values({"container-runtime": DOCKER}))
    with stop_signal() as stopped, Lifecycle() as life:
        with start_up():
            for host in load_plugins(options, None, SystemClock()).hosts:
                life.start(f"the plugins of family {host.family}", host)
        stopped.wait()


def check_removed(values: FlagValues) -> None:
    """Refuse what the API that this kubelet speaks has no more.

    Raises:
        UsageError: ``--dynamic-config-dir`` is given.
    """
    if values["dynamic-config-dir"]:
        text = "dynamic configuration of kubelets went with Kubernetes 1.24; give a KubeletConfiguration with --config"
        raise UsageError(f"--dynamic-config-dir: {text}")


def without_mount_propagation(values: FlagValues) -> FlagValues:
    """Return the values without a gate that the 1.x line had until 1.13, and that had to be on there.

    Source: kubernetes 1.12 ``pkg/kubelet/kubelet.go`` (NewMainKubelet).

    Raises:
        UsageError: it is switched off.
    """
    gates = dict(values["feature-gates"])
    if not gates.pop(MOUNT_PROPAGATION, True):
        raise UsageError("mount propagation feature gate has been deprecated and will be removed in 1.14")
    return values.with_values({"feature-gates": gates}) if MOUNT_PROPAGATION in values["feature-gates"] else values


@contextmanager
def _only_kubelet(values: FlagValues, stopped: StopSignal) -> Iterator[bool]:
    """Hold ``--lock-file`` while the block runs, if one is named; give False if the signal came before the lock."""
    path, exits = values["lock-file"], values["exit-on-lock-contention"]
    if not (path or exits):
        yield True
        return
    from hyperkube_host.kubelet.lock_file import check_lock_flags, locked

    check_lock_flags(path, exits_on_contention=exits)
    with locked(path, partial(stopped.wait, LOCK_POLL_SECONDS), stopped.set if exits else None) as is_held:
        yield is_held


def run(values: FlagValues) -> None:
    """Run pods until a signal."""
    from hyperkube_host.kubelet.cloudresource.node_name import named_by_cloud
    from hyperkube_lib.component_base.oom import set_oom_score
    from hyperkube_lib.component_base.open_files import allow_open_files
    from hyperkube_lib.component_base.process_memory import wait_until_stopped
    from hyperkube_lib.component_base.service_manager import READY, notify
    from hyperkube_lib.component_base.start import begin

    values = begin(COMMAND.name, COMMAND.all_flags(), without_mount_propagation(values))
    set_oom_score(values["oom-score-adj"])
    allow_open_files(values["max-open-files"])
    if values["runonce"]:
        run_local_pods(values)
        return
    if values["experimental-dockershim"]:
        run_dockershim(values)
        return
    check_removed(values)
    options = named_by_cloud(options_of(values))
    with stop_signal() as stopped, _only_kubelet(values, stopped) as is_alone, Lifecycle() as life:
        if not is_alone:
            return
        if values["bootstrap-kubeconfig"]:
            pause = partial(stopped.wait, REQUEST_POLL_SECONDS)
            join(options, values["kubeconfig"], values["bootstrap-kubeconfig"], pause)
        with start_up():
            client = _client(values, f"kubelet ({options.node.name})")
            kubelet = start(life, options, client)
            serve(life, options.server, kubelet)
            if client is not None:
                rotate_certificates(life, options, client, kubelet, values["kubeconfig"])
        notify(READY)
        wait_until_stopped(stopped)


COMMAND = ServerCommand(
    name=NAME,
    long=(
        "The kubelet is the node agent: it registers the node, makes sure that the containers of the pods assigned to"
        " it run and are healthy, and reports their state. Without an API server it runs static pods only."
    ),
    example="kubelet --kubeconfig=kubelet.kubeconfig --root-dir=./kubelet",
    flags=FLAGS,
    run=run,
    families=FAMILIES,
)
