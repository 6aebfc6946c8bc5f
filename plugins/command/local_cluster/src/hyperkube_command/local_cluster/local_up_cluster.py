"""hyperkube local-up-cluster: what Kubernetes' developers start by ``hack/local-up-cluster.sh``, in its order.

Each component is a hyperkube subcommand in a process of its own with a log file of its own; etcd is the one on the
PATH. The settings are the script's environment variables, each also a flag.

Source: kubernetes ``hack/local-up-cluster.sh``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from hyperkube_command.local_cluster.addons import Addons
from hyperkube_command.local_cluster.arguments import DNS_ADDON, ClusterOptions, arguments
from hyperkube_command.local_cluster.ports import refusal
from hyperkube_command.local_cluster.processes import PROGRAM, ServerProcess, wait_until_ready
from hyperkube_command.local_cluster.up import prepared, wait_for_node
from hyperkube_lib.local_cluster.layout import CertificateFolderLayout

from hyperkube.command.lifecycle import Lifecycle, StopSignal, stop_signal
from hyperkube.machinery.clock import SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.record import Record
from hyperkube.plugin.defaults import default_names

if TYPE_CHECKING:
    from hyperkube.client.client import Client

FOLDER = click.Path(file_okay=False, path_type=Path)
EXISTING_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
PORT, PORT_OR_NONE = click.IntRange(1, 65535), click.IntRange(0, 65535)
Decorator = Callable[[Callable[..., None]], Callable[..., None]]
EXAMPLE = """
\b
Examples:
  hyperkube local-up-cluster
  hyperkube local-up-cluster -o ./.venv/bin
  CERT_DIR=/tmp/pki API_SECURE_PORT=7443 hyperkube local-up-cluster
"""


class Script(Record):
    """The script's settings that are not the cluster's own.

    Attributes:
        program: what a component's subcommand is added to.
        log_folder: gets a file ``NAME.log`` per component.
        etcd_port: where etcd listens on 127.0.0.1.
        insecure_port: of the API server, without authentication, on 127.0.0.1; 0: none.
    """

    program: tuple[str, ...]
    log_folder: Path
    etcd_port: int
    insecure_port: int

    @property
    def etcd(self) -> str:
        """The address of etcd."""
        return f"http://127.0.0.1:{self.etcd_port}"


def _setting(*names: str, variable: str, default: object, kind: click.ParamType[Any] | type, text: str) -> Decorator:
    """Return the option for one of the script's environment variables."""
    return click.option(
        *names, envvar=variable, default=default, show_default=True, show_envvar=True, type=kind, help=text
    )


@click.command(epilog=EXAMPLE, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-o", "binaries", type=EXISTING_FOLDER, metavar="FOLDER", help="use the hyperkube in FOLDER, not this one"
)
@click.option("-O", "guess", is_flag=True, help="use the hyperkube beside the running interpreter")
@_setting(
    "--cert-dir",
    variable="CERT_DIR",
    default="/var/run/kubernetes",
    kind=FOLDER,
    text="certificates, keys and kubeconfigs; authorities that are there stay",
)
@_setting(
    "--log-dir", variable="LOG_DIR", default=None, kind=FOLDER, text="a log file per component; else a new folder"
)
@_setting(
    "--api-port",
    variable="API_PORT",
    default=8080,
    kind=PORT_OR_NONE,
    text="port of 127.0.0.1 that asks for no credentials; 0 for none",
)
@_setting("--api-secure-port", variable="API_SECURE_PORT", default=6443, kind=PORT, text="port of the API server")
@_setting("--kubelet-port", variable="KUBELET_PORT", default=10250, kind=PORT, text="port of the kubelet")
@_setting("--etcd-port", variable="ETCD_PORT", default=2379, kind=PORT, text="port of etcd")
@_setting(
    "--service-cluster-ip-range",
    "service_range",
    variable="SERVICE_CLUSTER_IP_RANGE",
    default="10.0.0.0/24",
    kind=str,
    text="addresses of services",
)
@_setting("--hostname-override", variable="HOSTNAME_OVERRIDE", default="127.0.0.1", kind=str, text="name of the node")
@_setting(
    "--authorization-mode", variable="AUTHORIZATION_MODE", default="Node,RBAC", kind=str, text="authorizers, in order"
)
@_setting(
    "--container-runtime",
    variable="CONTAINER_RUNTIME",
    default="process",
    kind=str,
    text="container runtime plugin of the node",
)
@_setting(
    "--enable-cluster-dns/--disable-cluster-dns",
    variable="ENABLE_CLUSTER_DNS",
    default=True,
    kind=bool,
    text="serve names at the tenth address of services",
)
@_setting("--v", "-v", "verbosity", variable="LOG_LEVEL", default=3, kind=int, text="log level of the components")
def command(
    binaries: Path | None, guess: bool, cert_dir: Path, log_dir: Path | None, api_port: int, api_secure_port: int,
    kubelet_port: int, etcd_port: int, service_range: str, hostname_override: str, authorization_mode: str,
    container_runtime: str, enable_cluster_dns: bool, verbosity: int,
) -> None:  # fmt: skip
    """Start a local cluster component by component, as hack/local-up-cluster.sh does, until Ctrl-C.

    Nothing outlives it but the certificates and the logs; `hyperkube up` is the shorter way, and keeps its objects.
    """
    _refuse_taken_ports(
        {
            "etcd": etcd_port,
            "the API server": api_secure_port,
            "clients without TLS": api_port,
            "the kubelet": kubelet_port,
        }
    )
    program = _program(binaries, guess=guess)
    folder = Path(tempfile.mkdtemp(prefix="local-up-cluster."))
    script = Script(
        program=program,
        log_folder=(log_dir or folder / "logs").absolute(),
        etcd_port=etcd_port,
        insecure_port=api_port,
    )
    cluster = ClusterOptions(
        layout=CertificateFolderLayout(folder, cert_dir.absolute()),
        node_name=hostname_override,
        api_host="localhost",
        authorization_mode=authorization_mode,
        secure_port=api_secure_port,
        kubelet_port=kubelet_port,
        runtime=container_runtime,
        service_range=service_range,
        verbosity=verbosity,
        addons=tuple(
            name for name in default_names("addon", "enabled_by_script") if name != DNS_ADDON or enable_cluster_dns
        ),
        extra=components_flags(script),
    )
    try:
        run(cluster, script)
    finally:
        for objects in (cluster.layout.store, cluster.layout.kubelet):
            shutil.rmtree(objects, ignore_errors=True)


def _program(binaries: Path | None, *, guess: bool) -> tuple[str, ...]:
    """Return what starts a component: the words that its subcommand is added to.

    Raises:
        UsageError: the folder has no hyperkube.
    """
    if binaries is None and not guess:
        return PROGRAM
    program = (binaries or Path(sys.executable).parent).absolute() / "hyperkube"
    if not program.is_file():
        raise UsageError(f"there is no hyperkube in {str(program.parent)!r}")
    return (str(program),)


def components_flags(script: Script) -> dict[str, tuple[str, ...]]:
    """Return server word → the flags that are the script's own."""
    insecure = (f"--insecure-port={script.insecure_port}", "--insecure-bind-address=127.0.0.1")
    return {
        "apiserver": (
            "--storage-backend=etcd3",
            f"--etcd-servers={script.etcd}",
            *(insecure if script.insecure_port else ()),
        )
    }


def _refuse_taken_ports(ports: dict[str, int]) -> None:
    for name, port in ports.items():
        if port and (why := refusal("127.0.0.1", port)):
            raise UsageError(f"cannot listen on port {port} for {name}: {why}")


def run(cluster: ClusterOptions, script: Script) -> None:
    """Start the components one after another, say so, and run until a signal.

    Raises:
        UsageError: a component ended on its own; the message names its log. The others were ended then.
    """
    losses: list[str] = []
    clock = SystemClock()
    cluster.layout.create()
    script.log_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with cluster.layout.locked(), prepared(cluster) as complete, stop_signal() as stopped, Lifecycle() as life:
        life.on_close("the clock", clock.close)

        def lost(what: str) -> None:
            losses.append(what)
            stopped.set()

        begun = clock.now().replace(microsecond=0)
        client = _start(life, complete, script, lost)
        wait_for_node(client, complete.first_node, stopped, begun)
        _announce(complete, script, stopped)
        stopped.wait()
        print("Cleaning up...", file=sys.stderr)
        if losses:
            raise UsageError(losses[0])


def _start(life: Lifecycle, cluster: ClusterOptions, script: Script, lost: Callable[[str], None]) -> Client:
    """Start everything in the script's order; return the administrator's client."""
    from hyperkube.client.kubeconfig import client_from_kubeconfig

    lines = arguments(cluster)
    lines["kubelet"].append("--stop-pods-on-close")
    launch = partial(_launch, life, script, lost)
    launch("etcd", etcd_command(cluster, script))
    api = launch("apiserver", [*script.program, "apiserver", *lines["apiserver"]])
    client = client_from_kubeconfig(str(cluster.layout.admin_kubeconfig))
    print("Waiting for apiserver to come up", flush=True)
    wait_until_ready(api, client, str(script.log_folder / "apiserver.log"))
    for word in ("controller-manager", "proxy", "scheduler"):
        launch(word, [*script.program, word, *lines[word]])
    before = tuple(name for name in cluster.addons if name == DNS_ADDON)
    life.start("the cluster's DNS", Addons(cluster.replace(addons=before), client, SystemClock()))
    launch("kubelet", [*script.program, "kubelet", *lines["kubelet"]])
    print("Create default storage class for", cluster.runtime, flush=True)
    after = tuple(name for name in cluster.addons if name != DNS_ADDON)
    life.start("the default storage class", Addons(cluster.replace(addons=after), client, SystemClock()))
    return client


def _launch(
    life: Lifecycle, script: Script, lost: Callable[[str], None], name: str, command: Sequence[str]
) -> ServerProcess:
    print(f"Starting {name}", flush=True)
    server = ServerProcess(name, command, lost, str(script.log_folder / f"{name}.log"))
    life.start(name, server)
    return server


def etcd_command(cluster: ClusterOptions, script: Script) -> list[str]:
    """Return how etcd starts: the one on the PATH, else hyperkube's own."""
    flags = [
        f"--data-dir={cluster.layout.store / 'etcd'}",
        f"--listen-client-urls={script.etcd}",
        f"--advertise-client-urls={script.etcd}",
    ]
    found = shutil.which("etcd")
    if found is None:
        print("etcd is not on the PATH: hyperkube's own takes its place", flush=True)
        return [*script.program, "etcd", *flags]
    return [found, *flags, "--listen-peer-urls=http://127.0.0.1:0"]


def _announce(cluster: ClusterOptions, script: Script, stopped: StopSignal) -> None:
    if stopped.is_set():
        return
    print("Local Kubernetes cluster is running. Press Ctrl-C to shut it down.")
    print()
    print("Logs:")
    for log in sorted(script.log_folder.glob("*.log")):
        print(f"  {log}")
    if script.insecure_port:
        print(
            f"http://127.0.0.1:{script.insecure_port} authenticates no client:"
            " every user of this machine may do anything there"
        )
    print()
    print("To start using your cluster, you can open up another terminal/tab and run:")
    print()
    print(f"  export KUBECONFIG={cluster.layout.admin_kubeconfig}")
    sys.stdout.flush()
