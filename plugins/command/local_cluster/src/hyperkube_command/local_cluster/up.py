"""hyperkube up: a local cluster, all five servers, without root and without anything to download."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from hyperkube_command.local_cluster.addons import Addons
from hyperkube_command.local_cluster.arguments import ANYWHERE, CONTAINER_PODS, CONTAINER_SERVICES, ClusterOptions
from hyperkube_command.local_cluster.left_pods import remember_runtime
from hyperkube_command.local_cluster.loopback_slice import locked_slice
from hyperkube_command.local_cluster.ports import free_port, refusal
from hyperkube_command.local_cluster.privileged_ports import PORT_OFFSET, kubernetes_service_port, may_bind
from hyperkube_lib.component_base.interpreter import share_interpreter
from hyperkube_lib.component_base.lean_bytecode import LeanImports
from hyperkube_lib.component_base.process_memory import spare_arenas, wait_until_stopped
from hyperkube_lib.component_base.service_manager import READY, STOPPING, notify
from hyperkube_lib.local_cluster.layout import Layout, default_data_dir

from hyperkube.command.lifecycle import Lifecycle, StopSignal, start_up, stop_signal
from hyperkube.command.server_command import set_up_logging
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import ApiError, UsageError
from hyperkube.plugin.defaults import default_names
from hyperkube.plugin.settings import read_plugin_config

if TYPE_CHECKING:
    from hyperkube_command.local_cluster.restartable_part import RestartablePart

    from hyperkube.client.client import Client

NODE_READY_SECONDS = 60.0
EXAMPLE = """
\b
Examples:
  hyperkube up
  hyperkube up --data-dir /tmp/demo --secure-port 7443 --nodes 3
  hyperkube up --hollow-only --nodes 100
  hyperkube up --container-runtime=remote
  hyperkube up --apiserver-arg admission-control=AlwaysAdmit
  hyperkube up --watch ./my-plugin --enable-admission-plugins=MyPlugin
  hyperkube up --scheduler-arg algorithm-provider=ClusterAutoscalerProvider
"""


@click.command(
    epilog=EXAMPLE,
    context_settings={
        "token_normalize_func": lambda name: name.replace("_", "-"),
        "help_option_names": ["-h", "--help"],
    },
)
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path),
    default=default_data_dir,
    show_default="XDG data folder",
    help="folder for the store, certificates and pods",
)
@click.option(
    "--bind-address",
    default="",
    show_default="127.0.0.1; with containers the machine's own, which they reach",
    help="address to listen on",
)
@click.option(
    "--secure-port", type=click.IntRange(1, 65535), default=6443, show_default=True, help="port of the API server"
)
@click.option(
    "--kubelet-port",
    type=click.IntRange(0, 65535),
    default=10250,
    show_default=True,
    help="port of the kubelet's API; the next free one if it is taken",
)
@click.option(
    "--token-auth-file", type=click.Path(exists=True, dir_okay=False), help="static tokens: token,user,uid[,groups]"
)
@click.option(
    "--runtime",
    "--container-runtime",
    default="process",
    show_default=True,
    help="container runtime plugin of the node; remote for containerd or CRI-O, docker",
)
@click.option(
    "--container-runtime-endpoint", default="", show_default="the plugin's", help="socket of the container runtime"
)
@click.option(
    "--node-name", default=lambda: socket.gethostname().lower(), show_default="host name", help="name of the node"
)
@click.option(
    "--nodes", type=click.IntRange(0, 10000), default=0, show_default=True, help="simulated nodes beside the real one"
)
@click.option("--hollow-only", is_flag=True, help="simulated nodes only, one unless --nodes says more")
@click.option("--processes", is_flag=True, help="each server as a process of its own, over HTTPS")
@click.option(
    "--service-cluster-ip-range",
    "service_range",
    default="",
    show_default="a slice of 127.0.0.0/8",
    help="addresses of services",
)
@click.option(
    "--service-node-port-range",
    "node_port_range",
    default="30000-32767",
    show_default=True,
    help="ports for NodePort services",
)
@click.option("--enable-admission-plugins", default="", help="admission plugins to enable beside the default ones")
@click.option(
    "--addons",
    show_default="the bundle's; with containers csi-host-path instead of local-path-storage-class",
    help="addons, in order",
)
@click.option(
    "--addon-config",
    type=click.Path(exists=True, dir_okay=False),
    help="YAML or TOML file with a table of settings per addon, named addon.NAME",
)
@click.option("--addon-arg", multiple=True, metavar="FLAG[=VALUE]", help="a flag of an addon; repeatable")
@click.option(
    "--watch",
    "watched",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="load the installed plugins of a folder anew when its files change; the cluster stays",
)
@click.option("--merge-kubeconfig", is_flag=True, help="also merge the cluster into ~/.kube/config and select it")
@click.option(
    "--apiserver-arg", multiple=True, metavar="FLAG[=VALUE]", help="a further flag of the API server; repeatable"
)
@click.option("--controller-manager-arg", multiple=True, metavar="FLAG[=VALUE]", help="of the controller manager")
@click.option("--scheduler-arg", multiple=True, metavar="FLAG[=VALUE]", help="of the scheduler")
@click.option("--kubelet-arg", multiple=True, metavar="FLAG[=VALUE]", help="of the kubelet")
@click.option("--proxy-arg", multiple=True, metavar="FLAG[=VALUE]", help="of the proxy")
@click.option("--v", "-v", "verbosity", type=int, default=0, help="log level")
def command(
    data_dir: Path, bind_address: str, secure_port: int, kubelet_port: int, token_auth_file: str | None, runtime: str,
    container_runtime_endpoint: str,
    node_name: str, nodes: int, hollow_only: bool, processes: bool, service_range: str, node_port_range: str,
    enable_admission_plugins: str, addons: str | None, addon_config: str | None, addon_arg: tuple[str, ...],
    watched: Path | None, merge_kubeconfig: bool,
    apiserver_arg: tuple[str, ...], controller_manager_arg: tuple[str, ...],
    scheduler_arg: tuple[str, ...], kubelet_arg: tuple[str, ...], proxy_arg: tuple[str, ...], verbosity: int,
) -> None:  # fmt: skip
    """Start a local Kubernetes cluster and run it until Ctrl-C.

    Everything is kept in the data folder: the next start finds it again.
    """
    extra = {
        "apiserver": _flags(apiserver_arg),
        "controller-manager": _flags(controller_manager_arg),
        "scheduler": _flags(scheduler_arg),
        "kubelet": _flags(kubelet_arg),
        "proxy": _flags(proxy_arg),
        "addons": _flags(addon_arg),
    }
    if container_runtime_endpoint:
        extra["kubelet"] = (f"--container-runtime-endpoint={container_runtime_endpoint}", *extra["kubelet"])
    if enable_admission_plugins:
        extra["apiserver"] += (f"--enable-admission-plugins={enable_admission_plugins}",)
    cluster = ClusterOptions(
        layout=Layout(data_dir.absolute()),
        node_name=node_name,
        bind_address=bind_address,
        secure_port=secure_port,
        kubelet_port=kubelet_port,
        token_auth_file=str(Path(token_auth_file).absolute()) if token_auth_file else "",
        runtime=runtime,
        simulated_nodes=max(1, nodes) if hollow_only else nodes,
        hollow_only=hollow_only,
        service_range=service_range,
        node_port_range=node_port_range,
        verbosity=verbosity,
        addons=tuple(name for name in addons.split(",") if name) if addons is not None else (),
        addon_settings=read_plugin_config(addon_config) if addon_config else {},
        extra=extra,
        watched=watched,
    )
    if processes and watched:
        raise UsageError("--watch reloads plugins in the process of `up`: leave out --processes")
    set_up_logging(verbosity)
    validate(cluster)
    cluster = cluster.replace(
        bind_address=cluster.bind_address or _default_address(cluster),
        addons=cluster.addons if addons is not None else _default_addons(cluster),
    )
    bring_up(cluster, processes=processes, merge=merge_kubeconfig)


def _flags(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word if word.startswith("-") else f"--{word}" for word in words)


def _default_addons(cluster: ClusterOptions) -> tuple[str, ...]:
    """Return the bundle's addons: others where containers run and volumes can be mounted for them."""
    has_mounts = cluster.has_containers and os.geteuid() == 0
    return tuple(default_names("addon", "enabled_with_containers" if has_mounts else "enabled"))


def _default_address(cluster: ClusterOptions) -> str:
    if not cluster.has_containers:
        return "127.0.0.1"
    from hyperkube_host.apiserver.controlplane.system_objects import outward_address

    return outward_address() or "127.0.0.1"


def validate(cluster: ClusterOptions) -> None:
    """Validate the options before anything is touched.

    Raises:
        UsageError: one line that says what is wrong.
    """
    from hyperkube.machinery.names import dns1123_subdomain
    from hyperkube.plugin.flags import CIDRS

    for error in dns1123_subdomain(cluster.node_name):
        raise UsageError(f"{cluster.node_name!r} cannot be a node's name: {error} (choose another with --node-name)")
    try:
        CIDRS.convert(cluster.service_range)
    except ValueError as error:
        raise UsageError(f"invalid argument for --service-cluster-ip-range: {error}") from error
    if cluster.watched is not None:
        from hyperkube_command.local_cluster.watched_plugins import plugins_in

        plugins_in(cluster.watched)


def bring_up(cluster: ClusterOptions, *, processes: bool, merge: bool) -> None:
    """Run the cluster until a signal.

    Raises:
        UsageError: the data folder or a port is taken, or an option is wrong; nothing was started. Or one of several
            server processes ended on its own; the others were ended then.
    """
    losses: list[str] = []
    layout = cluster.layout
    clock = SystemClock()
    begun = clock.now().replace(microsecond=0)
    layout.create()
    with layout.locked(), prepared(cluster) as completed, stop_signal() as stopped, Lifecycle() as life:
        life.on_close("the clock", clock.close)
        remember_runtime(cluster)

        def lost(what: str) -> None:
            losses.append(what)
            stopped.set()

        parts: Mapping[str, RestartablePart] = {}
        imports = LeanImports(__file__)
        if processes:
            from hyperkube_command.local_cluster.processes import start as start_processes

            client = start_processes(life, completed, lost)
        else:
            spare_arenas()
            share_interpreter()
            imports.install()
            with start_up():
                from hyperkube_command.local_cluster.in_process import start as start_in_process

                servers = start_in_process(life, completed, clock)
                client, parts = servers.client(), servers.parts
        addons = Addons(completed, client, clock)
        life.start("the addons", addons)
        wait_for_node(client, cluster.first_node, stopped, begun)
        notices = addons.notices()
        if completed.watched:
            from hyperkube_command.local_cluster.watched_plugins import ADDONS

            notices = notices + _watch(life, completed.watched, {**parts, ADDONS: addons}, lost)
        layout.write_state({"pid": os.getpid(), "server": completed.server, "processes": processes})
        life.on_close("the state file", lambda: layout.state_file.unlink(missing_ok=True))
        if not stopped.is_set():
            _announce(completed, notices, merge=merge)
        notify(READY)
        wait_until_stopped(stopped, each_period=imports.write_missed)
        notify(STOPPING)
        print("stopping", file=sys.stderr)
        if losses:
            raise UsageError(losses[0])


def _watch(
    life: Lifecycle, folder: Path, parts: Mapping[str, RestartablePart], lost: Callable[[str], None]
) -> list[str]:
    """Load the plugins of a folder anew from now on, whenever they change; return lines for the user."""
    from hyperkube_command.local_cluster.reload import FolderWatch, Reloader

    reloader = Reloader(folder, parts, partial(print, flush=True))
    life.start("the watch of plugins", FolderWatch(folder, reloader, lost))
    return [reloader.notice()]


@contextlib.contextmanager
def prepared(cluster: ClusterOptions) -> Iterator[ClusterOptions]:
    """Choose addresses and ports, make certificates and kubeconfigs; yield the completed options."""
    from hyperkube_command.local_cluster.certificates import write_credentials_apart

    if why := refusal(cluster.bind_address, cluster.secure_port):
        at = f"{cluster.bind_address} port {cluster.secure_port}"
        raise UsageError(f"cannot listen on {at}: {why} (choose another with --secure-port)")
    layout = cluster.layout
    (layout.root / "manifests").mkdir(mode=0o700, exist_ok=True)
    with locked_slice(layout.root / "slice") as addresses:
        port = free_port(cluster.bind_address, cluster.kubelet_port)
        pods, services = addresses.pods, addresses.services
        if cluster.has_containers:
            pods, services = CONTAINER_PODS, CONTAINER_SERVICES
        kubelet = (f"--pod-cidr={pods}", *cluster.extra.get("kubelet", ()))
        is_privileged = may_bind(addresses.first_service)
        complete = cluster.replace(
            kubelet_port=port,
            service_range=cluster.service_range or services,
            kubernetes_service_port=kubernetes_service_port(cluster, is_privileged=is_privileged),
            unprivileged_port_offset=0 if is_privileged else PORT_OFFSET,
            extra={**cluster.extra, "kubelet": kubelet},
        )
        write_credentials_apart(complete)
        yield complete


def wait_for_node(client: Client, name: str, stopped: StopSignal, since: datetime) -> None:
    """Wait until the node says, not before `since`, that it is ready: an earlier run's word does not count."""
    from hyperkube.kinds.resources import NODES
    from hyperkube.machinery.times import format_time

    moment = format_time(since)

    clock = SystemClock()
    deadline = clock.monotonic() + NODE_READY_SECONDS
    while not stopped.is_set():
        with contextlib.suppress(ApiError, OSError):
            conditions = client.get(NODES, name).get("status", {}).get("conditions", [])
            ready = [row for row in conditions if row["type"] == "Ready" and row["status"] == "True"]
            if any(row.get("lastHeartbeatTime", "") >= moment for row in ready):
                return
        if clock.monotonic() > deadline:
            raise UsageError(f"node {name!r} was not Ready within {NODE_READY_SECONDS:.0f} s (see the log with -v 2)")
        stopped.wait(0.02)


def _announce(cluster: ClusterOptions, notices: Sequence[str], *, merge: bool) -> None:
    print("Local Kubernetes cluster is running. Press Ctrl-C to shut it down.")
    print()
    print(f"  server: {cluster.server}    node: {cluster.first_node}    data: {cluster.layout.root}")
    if cluster.hollow_only:
        print("  all nodes are simulated: no pod runs a program")
    elif cluster.runtime == "process":
        print("  pods run as processes of this user: creating a pod equals being this user")
    elif cluster.has_containers:
        print(f"  pods are containers of {cluster.runtime}; clients in them, and in your network, reach the server")
    if cluster.simulated_nodes and not cluster.hollow_only:
        print("  pods of image host run on the real node, all others on the simulated ones")
    if cluster.unprivileged_port_offset:
        offset = cluster.unprivileged_port_offset
        print(f"  service ports below 1024 need a privilege: they are served {offset} higher, 80 at {80 + offset}")
    if cluster.bind_address in ANYWHERE:
        print("  listening on every address of this machine")
    for line in notices:
        print(f"  {line}")
    if merge:
        from hyperkube_command.local_cluster.kubeconfig import merge_into_default

        print(f"  merged into {merge_into_default(cluster.layout)} as context 'hyperkube'")
    print("To start using your cluster, run:")
    print(f"  export KUBECONFIG={cluster.layout.admin_kubeconfig}")
    sys.stdout.flush()
