"""`ControlPlane`: a whole cluster in the test's own process, over the in-process transport.

Nothing is shared between two of them, nothing is left behind by one, and time may be faked::

    with ControlPlane(hollow_nodes=1) as cluster:
        cluster.client.create(DEPLOYMENTS, deployment)
        cluster.wait(lambda: ready_replicas(cluster) == 3)
"""

from __future__ import annotations

import contextlib
import secrets
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from hyperkube_testing.cluster.cluster_snapshot import ClusterSnapshot
from hyperkube_testing.cluster.process_node import LABEL, NAME, Options, api_server_options, kubelet_options

from hyperkube.client.client import Client
from hyperkube.kinds.resources import NODES, SERVICE_ACCOUNTS
from hyperkube.machinery.clock import Clock, SystemClock
from hyperkube.machinery.collector_pause import collector_paused
from hyperkube.machinery.errors import NotFound
from hyperkube.machinery.users import AUTHENTICATED_GROUP, PRIVILEGED_GROUP, UserInfo, component, node
from hyperkube.plugin.flags import FlagValues
from hyperkube.plugin.loader import one_look
from hyperkube.storage.memory import MemoryStore

if TYPE_CHECKING:
    from hyperkube_host.apiserver.server import ApiServer
    from hyperkube_host.kubelet.kubelet import Kubelet
    from hyperkube_lib.serving.edge import Edge

    from hyperkube.storage.store import Store

ADMIN = UserInfo("admin", "", (PRIVILEGED_GROUP, AUTHENTICATED_GROUP))
READY_SECONDS = 30.0
POLL_SECONDS = 0.005
_HOST = "127.0.0.1"

Found = TypeVar("Found")


class NotInTime(AssertionError):
    """What a test waited for did not happen."""


class ControlPlane:
    """API server, controllers, scheduler and simulated nodes: a context manager, ready when entered.

    Args:
        clock: the cluster's time; a `FakeClock` makes it stand still between the test's own steps.
        hollow_nodes: how many simulated nodes run pods, named ``hollow-0`` and so on.
        process_node: whether there is a real node, too, named ``process-0``: it runs pods of image ``host`` as
            processes of this user, with logs, exec and port-forward.
        apiserver: flags of the API server by name, over those of the fixture.
        controller_manager: flags of the controller manager (``{"controllers": ["namespace"]}``); None leaves it out.
        scheduler: flags of the scheduler (``{"algorithm-provider": "LuckyProvider"}``); None leaves it out.
        kubelet: flags of every simulated node.
        store: where objects are kept; memory of its own unless given, and then closed by the caller.
        snapshot: begin with this in place of an empty store (see `ClusterSnapshot.cluster`).
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        hollow_nodes: int = 0,
        process_node: bool = False,
        apiserver: Options | None = None,
        controller_manager: Options | None = {},  # noqa: B006  only read; None means something else
        scheduler: Options | None = {},  # noqa: B006  only read; None means something else
        kubelet: Options | None = None,
        store: Store | None = None,
        snapshot: ClusterSnapshot[ControlPlane] | None = None,
    ) -> None:
        self._real = SystemClock()
        self.clock: Clock = clock or self._real
        self._snapshot = snapshot
        self._folder = tempfile.TemporaryDirectory(prefix="hyperkube-")
        self._token = secrets.token_urlsafe(24)
        self._hollow_nodes = hollow_nodes
        self._process_node = process_node
        self._wanted = (apiserver or {}, controller_manager, scheduler, kubelet or {})
        self._store = store
        self._arguments = {
            "hollow_nodes": hollow_nodes,
            "process_node": process_node,
            "apiserver": apiserver,
            "controller_manager": controller_manager,
            "scheduler": scheduler,
            "kubelet": kubelet,
        }
        self._closers: list[Callable[[], None]] = [self._folder.cleanup, self._real.close]
        self._parts: list[Callable[[], bool]] = []
        self._server: ApiServer | None = None
        self._edge: Edge | None = None

    @property
    def server(self) -> ApiServer:
        """The API server.

        Raises:
            RuntimeError: the cluster was not started.
        """
        if self._server is None:
            raise RuntimeError("the cluster is not running: use it in a with block")
        return self._server

    @property
    def client(self) -> Client:
        """The API as a user who may do everything."""
        return self.server.client(ADMIN)

    def client_for(self, user: UserInfo | str) -> Client:
        """Return the API as that user, with no more rights than the cluster's roles give."""
        who = UserInfo(user, "", (AUTHENTICATED_GROUP,)) if isinstance(user, str) else user
        return self.server.client(who)

    def snapshot(self) -> ClusterSnapshot[ControlPlane]:
        """Keep how the cluster is now, to begin others with; free while this one runs on, kept when it is closed.

        Raises:
            RuntimeError: the cluster was not started, or its store cannot be forked.
        """
        if self._store is None:
            raise RuntimeError("the cluster is not running: use it in a with block")
        return ClusterSnapshot.of(self.server, self._store, self.clock, ControlPlane, self._arguments)

    def fork(self, **changes: Any) -> ControlPlane:
        """Return another cluster that begins as this one is now: enter it. It has a store and a clock of its own.

        Args:
            changes: arguments of `ControlPlane` that shall be other than this cluster's, which the fork has else.
        """
        return self.snapshot().cluster(**changes)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start everything; returns when it is ready.

        Raises:
            UsageError: a flag is wrong, or names a plugin that is not installed.
            NotInTime: a part did not become ready.
        """
        apiserver, controller_manager, scheduler, kubelet = self._wanted
        with collector_paused(), one_look():
            self._start_server(apiserver)
            if controller_manager is not None:
                self._start_controllers(controller_manager)
            if scheduler is not None:
                self._start_scheduler(scheduler)
            for index in range(self._hollow_nodes):
                self._start_node(f"hollow-{index}", {**self._hollow_options(), **kubelet})
            if self._process_node:
                self._start_process_node()
        self.wait(lambda: all(ready() for ready in self._parts), "the cluster's parts", READY_SECONDS)

    def close(self) -> None:
        """Stop everything, the last started first; idempotent."""
        failures: list[Exception] = []
        while self._closers:
            try:
                self._closers.pop()()
            except Exception as error:  # noqa: BLE001  the other parts must be closed all the same; it is raised below
                failures.append(error)
        self._server = None
        if failures:
            raise failures[0]

    def _start_server(self, options: Options) -> None:
        from hyperkube_host.apiserver.server import ApiServer

        tokens = Path(self._folder.name, "tokens.csv")
        tokens.touch(mode=0o600)
        tokens.write_text(f"{self._token},{ADMIN.name},,{PRIVILEGED_GROUP}\n", encoding="utf-8")
        if self._store is None:
            self._store = self._new_store()
            self._closers.append(self._store.close)
        defaults = {
            "authorization-mode": ("Node", "RBAC"),
            "token-auth-file": str(tokens),
            "service-cluster-ip-range": "10.0.0.0/24",
            "service-node-port-range": "30000-32767",
            "allow-privileged": True,
        }
        if self._process_node:
            defaults |= api_server_options(Path(self._folder.name), is_mixed=self._hollow_nodes > 0)
        self._server = server = ApiServer(
            options={**defaults, **options},
            clock=self.clock,
            store=self._store,
            warm=self._snapshot.warm if self._snapshot is not None else None,
        )
        self._closers.append(server.close)
        server.start()
        self._parts.append(server.ready)

    def _new_store(self) -> Store:
        if self._snapshot is None:
            return MemoryStore(self.clock)
        return self._snapshot.store.fork(Path(self._folder.name, "store"), self.clock)

    def _start_controllers(self, options: Options) -> None:
        from hyperkube_host.controller_manager import MANAGER
        from hyperkube_lib.controller_manager import ControllerManager, ManagerOptions

        defaults: Options = {"root-ca-file": str(self.ca_file)} if self._process_node else {}
        wanted = ManagerOptions.in_process(MANAGER, {**defaults, **options})
        manager = ControllerManager(client_for=self.server.client, options=wanted, clock=self.clock)
        self._closers.append(manager.close)
        manager.start()
        self.server.components.offer("controller-manager", manager.ready)
        # Not `ready`: a controller of a custom resource waits for a definition that the test may yet create.
        self._parts.append(lambda: all(manager.health().values()))
        if "serviceaccount" in manager.names:
            self._parts.append(self._has_default_account)

    def _has_default_account(self) -> bool:
        with contextlib.suppress(NotFound):
            return bool(self.client.get(SERVICE_ACCOUNTS, "default", "default"))
        return False

    def _start_scheduler(self, options: Options) -> None:
        from hyperkube_host.scheduler.options import SchedulerOptions
        from hyperkube_host.scheduler.scheduler import Scheduler

        client = self.server.client(component("system:kube-scheduler"))
        scheduler = Scheduler(client=client, options=SchedulerOptions.in_process(options), clock=self.clock)
        self._closers.append(scheduler.close)
        scheduler.start()
        self.server.components.offer("scheduler", scheduler.ready)
        self._parts.append(scheduler.ready)

    def _hollow_options(self) -> Options:
        labels = {"node-labels": {LABEL: "true"}} if self._process_node else {}
        return {"container-runtime": "hollow", "port": 0, **labels}

    def _start_process_node(self) -> None:
        from hyperkube_host.kubelet.command import edge_of

        kubelet = self._start_node(NAME, kubelet_options(Path(self._folder.name, NAME), _HOST))
        edge = edge_of(kubelet)
        self._closers.append(edge.close)
        edge.start()

    def _start_node(self, name: str, options: Options) -> Kubelet:
        from hyperkube_host.kubelet.command import COMMAND
        from hyperkube_host.kubelet.kubelet import Kubelet
        from hyperkube_host.kubelet.options import KubeletOptions

        defaults = {
            "hostname-override": name,
            "root-dir": str(Path(self._folder.name, name)),
            "node-ip": _HOST,
        }
        values = FlagValues.of(COMMAND.all_flags(), {**defaults, **options})
        kubelet = Kubelet(client=self.server.client(node(name)), options=KubeletOptions.of(values), clock=self.clock)
        self._closers.append(kubelet.close)
        kubelet.start()
        self._parts.append(lambda: self._node_is_ready(name))
        return kubelet

    def _node_is_ready(self, name: str) -> bool:
        with contextlib.suppress(NotFound):
            conditions = self.client.get(NODES, name).get("status", {}).get("conditions", [])
            return any(row["type"] == "Ready" and row["status"] == "True" for row in conditions)
        return False

    def wait(self, condition: Callable[[], Found], what: str = "the condition", seconds: float = 10.0) -> Found:
        """Ask until `condition` returns something true and return that; the seconds are real ones.

        An object that is not there yet (`NotFound`) counts as not yet true.

        Raises:
            NotInTime: it did not happen.
        """
        deadline = self._real.monotonic() + seconds
        never = threading.Event()
        while True:
            with contextlib.suppress(NotFound):
                found = condition()
                if found:
                    return found
            if self._real.monotonic() > deadline:
                raise NotInTime(f"waited {seconds:g} s in vain for {what}")
            self._real.wait(never, POLL_SECONDS)

    @property
    def url(self) -> str:
        """Where the API is served over HTTPS, from the first use of this on, for clients of any kind."""
        return f"https://{_HOST}:{self._listening().port}"

    @property
    def token(self) -> str:
        """The administrator's bearer token, for `url`."""
        return self._token

    @property
    def ca_file(self) -> Path:
        """The certificate that clients of `url` should trust."""
        self._listening()
        return Path(self._folder.name, "serving.crt")

    @property
    def kubeconfig(self) -> Path:
        """A kubeconfig for `url` as the administrator; it goes away with the cluster."""
        from hyperkube.client import kubeconfig

        path = Path(self._folder.name, "kubeconfig")
        cluster = {"server": self.url, "certificate-authority": str(self.ca_file)}
        config = kubeconfig.put(kubeconfig.empty(), "clusters", "test", cluster)
        config = kubeconfig.put(config, "users", ADMIN.name, {"token": self._token})
        config = kubeconfig.put(config, "contexts", "test", {"cluster": "test", "user": ADMIN.name})
        kubeconfig.write(path, {**config, "current-context": "test"})
        return path

    def _listening(self) -> Edge:
        if self._edge is None:
            from hyperkube_lib.serving.certificates import self_signed
            from hyperkube_lib.serving.edge import Edge
            from hyperkube_lib.serving.tls import TlsFiles

            certificate, key = (str(Path(self._folder.name, f"serving.{end}")) for end in ("crt", "key"))
            self_signed("hyperkube-test", dns=["localhost"], ips=[_HOST]).write(certificate, key)
            edge = Edge(self.server.handler, host=_HOST, tls=TlsFiles(cert_file=certificate, key_file=key))
            self._closers.append(edge.close)
            edge.start()
            self._edge = edge
        return self._edge
