"""Connections to the members of an etcd cluster: one in use, the others for when it fails."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

from hyperkube_storage.etcd.answers import elsewhere, logged_out, never_sent, translate
from hyperkube_storage.etcd.calls import CALL_SECONDS, Call, Countdown
from hyperkube_storage.etcd.pulse import Pulse
from hyperkube_storage.etcd.tunnel import Tunnel

from hyperkube.machinery.clock import Clock
from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.dial import Dial
from hyperkube.machinery.errors import UsageError
from hyperkube.storage.store import StoreError, StoreUnavailable

Answer = TypeVar("Answer")

_GRPC_OPTIONS: tuple[tuple[str, int | str], ...] = (
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    # A member that comes back is found within seconds, and one that drops what is sent to it does not hold up for long.
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 2_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
)


logger = logging.getLogger("hyperkube.storage")


class ServerAddress(NamedTuple):
    """Where a member listens."""

    host: str
    port: int
    secure: bool


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach etcd and who to be there.

    Attributes:
        servers: URLs; the first that answers is used.
        ca_file: authorities that sign the servers' certificates; https needs it.
        cert_file: this client's certificate.
        key_file: its key.
        user: name to log in with, empty for none.
        password: that goes with it.
        dial: connects through a proxy; None connects directly.
    """

    servers: Sequence[str]
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    user: str = ""
    password: str = ""
    dial: Dial | None = None

    def addresses(self) -> list[ServerAddress]:
        """Return where the servers listen.

        Raises:
            UsageError: no server, a URL that is not one, or https without a CA file.
        """
        if not self.servers:
            raise UsageError("--etcd-servers must be specified")
        addresses = []
        for server in self.servers:
            url = urlsplit(server if "://" in server else f"http://{server}")
            if url.scheme not in {"http", "https"} or not url.hostname:
                raise UsageError(f"etcd server {server!r} is not a URL such as http://127.0.0.1:2379")
            if url.scheme == "https" and not self.ca_file:
                raise UsageError(f"etcd server {server!r} needs --etcd-cafile")
            addresses.append(ServerAddress(url.hostname, url.port or 2379, url.scheme == "https"))
        if bool(self.cert_file) != bool(self.key_file):
            raise UsageError("--etcd-certfile and --etcd-keyfile go together")
        return addresses

    def connect(self, address: ServerAddress, tunnel: Tunnel | None = None) -> Any:
        """Return an etcd3 client, through a tunnel if there is one, logged in if there is a user."""
        from hyperkube_storage.etcd.etcdrpc import etcd3_client

        port: int | str = address.port
        host, options = f"[{address.host}]" if ":" in address.host else address.host, _GRPC_OPTIONS
        if tunnel is not None:
            # gRPC's name of a Unix socket is ``unix:PATH``, which etcd3 makes of host and port; certificates and the
            # server's name stay those of the member.
            names = ("grpc.default_authority", f"{host}:{port}"), ("grpc.ssl_target_name_override", address.host)
            host, port, options = "unix", tunnel.path, (*options, *names)
        return etcd3_client(
            host=host,
            port=port,
            ca_cert=self.ca_file if address.secure else None,
            cert_cert=(self.cert_file or None) if address.secure else None,
            cert_key=(self.key_file or None) if address.secure else None,
            user=self.user or None,
            password=self.password or None,
            timeout=CALL_SECONDS,
            grpc_options=options,
        )

    def tunnel(self, address: ServerAddress) -> Tunnel | None:
        """Return a way to a member through the proxy, None where it is reached directly."""
        return None if self.dial is None else Tunnel(self.dial, address.host, address.port)


class Endpoints:
    """Calls on whichever member answers.

    Args:
        access: where the members are and who to be there.
        clock: for asking now and then whether they are still there; None to find out by calls only.

    Raises:
        UsageError: the access is not usable.
    """

    def __init__(self, access: Access, clock: Clock | None = None) -> None:
        self._access = access
        self._addresses = access.addresses()
        self._lock = threading.Lock()
        self._current = 0
        self._client: Any = None
        self._tunnels: dict[ServerAddress, Tunnel | None] = {}
        self._closed = False
        alone = len(self._addresses) == 1
        self._pulse = Pulse(clock, self._close_silent, alone=alone) if clock is not None else None

    def __len__(self) -> int:
        return len(self._addresses)

    def client(self) -> Any:
        """Return the client in use, connecting first if there is none.

        Raises:
            StoreError: logging in failed.
        """
        import grpc

        with self._lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            if self._client is None:
                try:
                    self._client = self._connect(self._addresses[self._current])
                except grpc.RpcError as error:
                    self._current = (self._current + 1) % len(self._addresses)
                    raise translate(error) from error
                if self._pulse is not None:
                    self._pulse.follow(self._client)
            return self._client

    def _connect(self, address: ServerAddress) -> Any:
        if address not in self._tunnels:
            self._tunnels[address] = self._access.tunnel(address)
        return self._access.connect(address, self._tunnels[address])

    def leave(self, client: Any) -> bool:
        """Use the next member from now on, unless another thread has already left this client; tell which."""
        with self._lock:
            if self._client is not client:
                return False
            self._client = None
            self._current = (self._current + 1) % len(self._addresses)
        # Calls that others have under way on it end by themselves: the channel goes with its last user.
        return True

    def read(self, call: Callable[[Any], Answer]) -> Answer:
        """Make a call that may be repeated, on each member until one answers.

        Raises:
            StoreError: what etcd answered, or that no member does.
        """
        return self._call(call, repeat_all=True)

    def write(self, call: Callable[[Any], Answer]) -> Answer:
        """Make a call that may only be repeated when it surely was not carried out.

        Raises:
            StoreUnavailable: no member answers, or it is not known whether it was done.
            StoreError: what etcd answered.
        """
        return self._call(call, repeat_all=False)

    def close(self) -> None:
        """Close the connection in use; later calls are refused."""
        if self._pulse is not None:
            self._pulse.close()
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
            tunnels, self._tunnels = self._tunnels, {}
        if client is not None:
            client.close()
        for tunnel in tunnels.values():
            if tunnel is not None:
                tunnel.close()

    def together(self, calls: Sequence[Call]) -> None:
        """Make calls at once, each as `read` or `write` would; what became of each is noted in it."""
        left = calls
        for _ in range(len(self._addresses) + 1):
            try:
                client = self.client()
            except StoreError as error:
                for call in left:
                    call.failure = error
                if self._closed:
                    return
                continue
            left = self._at_once(client, left)
            if not left:
                return

    def _at_once(self, client: Any, calls: Sequence[Call]) -> list[Call]:
        """Make calls at once on a connection; return those that are to be made again on another."""
        begun, again = [], list[Call]()
        for call in calls:
            try:
                begun.append((call, call.begin(client)))
            except ValueError as error:  # as in `_call`
                self.leave(client)
                call.failure = StoreUnavailable("the store is closed" if self._closed else str(error))
                again.append(call)
        if begun:
            countdown = Countdown(len(begun))
            for _, future in begun:
                future.add_done_callback(countdown)
            countdown.wait()
        for call, future in begun:
            failure = future.exception()
            if failure is None:
                call.answer, call.failure = future.result(), None
            else:
                call.failure = translate(failure)
                if self._is_repeated(client, failure, repeat_all=call.repeats):
                    again.append(call)
        return [] if self._closed else again

    def _call(self, call: Callable[[Any], Answer], *, repeat_all: bool) -> Answer:
        import grpc

        failed: StoreError = StoreUnavailable("no etcd server answers")
        for _ in range(len(self._addresses) + 1):
            try:
                client = self.client()
            except StoreUnavailable as error:
                failed = error
                if self._closed:
                    raise
                continue
            try:
                return call(client)
            except grpc.RpcError as error:
                failed = translate(error)
                if not self._is_repeated(client, error, repeat_all=repeat_all):
                    raise failed from error
            except ValueError as error:  # grpc: another thread closed the channel before this call began
                if self._closed:
                    raise StoreUnavailable("the store is closed") from error
                self.leave(client)
        raise failed

    def _is_repeated(self, client: Any, error: Any, *, repeat_all: bool) -> bool:
        """Leave a connection that failed; tell whether the call is to be made again on another."""
        if not (elsewhere(error) or logged_out(error)):
            return False
        self.leave(client)
        return repeat_all or logged_out(error) or never_sent(error)

    def _close_silent(self, client: Any) -> None:
        """Leave a member that went silent; what waits on it ends. A client that calls have left is old news."""
        if self.leave(client):
            logger.warning("an etcd server does not answer any more, its connection is closed")
        client.close()
