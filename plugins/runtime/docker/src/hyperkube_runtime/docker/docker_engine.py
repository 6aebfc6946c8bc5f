"""Docker's Engine API over HTTP on its socket.

Each call has a connection of its own, which costs next to nothing on a unix socket: a daemon that was away is found
again. What comes right after the head of an answer is a part of the stream that was asked for.

Source: Docker Engine API v1.41; kubernetes ``pkg/kubelet/dockershim/libdocker/kube_docker_client.go``.
"""

from __future__ import annotations

import http.client
import json
import re
import socket
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from hyperkube_runtime.docker.engine import TIMED_OUT, UNREACHABLE, EngineFailed, Json, RawStream
from hyperkube_runtime.docker.event_stream import HttpEventStream
from hyperkube_runtime.docker.names import TYPE_LABEL

from hyperkube.machinery.errors import UsageError

API_VERSION = (1, 41)
"""What these calls were written for; an older or a newer daemon is spoken to in the nearest version that it has."""
_BAD_REQUEST = 400
_HEAD_LIMIT = 65536
_EVENTS = ("create", "start", "die", "destroy")
"""The events of a container's life; those of commands in it and of its health are many."""


class DockerEngine:
    """A daemon behind an endpoint; see `Engine`."""

    def __init__(self, endpoint: str, timeout_seconds: float, pull_progress_seconds: float) -> None:
        """Prepare connections; nothing is opened yet.

        Args:
            endpoint: ``unix:///PATH`` or ``tcp://HOST:PORT``.
            timeout_seconds: how long a call may take, beside what it is given to wait.
            pull_progress_seconds: how long a pull may go without progress.

        Raises:
            UsageError: the endpoint is neither.
        """
        parts = urlsplit(endpoint)
        self._path = parts.path if parts.scheme == "unix" else ""
        host, _, port = parts.netloc.rpartition(":")
        self._address = (host, int(port) if port.isdecimal() else 0)
        if not self._path.startswith("/") and not (parts.scheme in {"tcp", "http"} and all(self._address)):
            raise UsageError(f"--docker-endpoint={endpoint!r}: must be unix:///PATH or tcp://HOST:PORT")
        self._endpoint = endpoint
        self._timeout = timeout_seconds
        self._pull_timeout = pull_progress_seconds
        self._prefix = ""

    def _unreachable(self, error: Exception) -> EngineFailed:
        text = f"Cannot connect to the Docker daemon at {self._endpoint}. Is the docker daemon running?"
        return EngineFailed(UNREACHABLE, f"{text} ({error})")

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise EngineFailed(TIMED_OUT, "operation timeout: context deadline exceeded") from error
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error

    @contextmanager
    def _answer(
        self, method: str, path: str, timeout: float, body: bytes | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """Send a request; its answer is read within the context.

        Raises:
            EngineFailed: the daemon refuses.
        """
        connection = http.client.HTTPConnection("docker", timeout=timeout)
        with self._failures():
            connection.sock = self._connect()
            connection.sock.settimeout(timeout)
            try:
                connection.request(method, self._prefix + path, body, {"Connection": "close", **headers})
                answer = connection.getresponse()
                if answer.status >= _BAD_REQUEST:
                    raise refusal(answer.status, answer.read())
                yield answer
            finally:
                connection.close()

    def _call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Json | None = None,
        extra_seconds: float = 0.0,
    ) -> Any:
        """Return the answer's JSON, None for an answer without any."""
        content = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        full_path = f"{path}?{urlencode(query)}" if query else path
        with self._answer(method, full_path, self._timeout + extra_seconds, content, headers) as answer:
            told = answer.read()
        return json.loads(told) if told else None

    def version(self) -> Json:
        """Return the daemon's version, and speak its API from now on."""
        before, self._prefix = self._prefix, ""
        try:
            found: Json = self._call("GET", "/version")
        except EngineFailed:
            self._prefix = before
            raise
        self._prefix = f"/v{api_version(found)}"
        return found

    def info(self) -> Json:
        """Return what the daemon tells of itself."""
        found: Json = self._call("GET", "/info")
        return found

    # containers

    def containers(self, labels: Mapping[str, str], *, name: str = "", sizes: bool = False) -> Sequence[Json]:
        """Return all containers with these labels and this part in their names."""
        filters = {"label": [f"{label}={value}" for label, value in labels.items()]}
        if name:
            filters["name"] = [re.escape(name)]
        query = {"all": "1", "filters": json.dumps(filters), "size": "1" if sizes else "0"}
        found: Sequence[Json] = self._call("GET", "/containers/json", query)
        return found

    def events(self) -> HttpEventStream:
        """Listen to the containers of pods."""
        filters = {"type": ["container"], "event": list(_EVENTS), "label": [TYPE_LABEL]}
        connection = http.client.HTTPConnection("docker", timeout=self._timeout)
        with self._failures():
            channel = connection.sock = self._connect()
            channel.settimeout(self._timeout)
            try:
                connection.request("GET", f"{self._prefix}/events?{urlencode({'filters': json.dumps(filters)})}")
                answer = connection.getresponse()
                refused = answer.read() if answer.status >= _BAD_REQUEST else None
            except BaseException:
                connection.close()
                raise
        if refused is not None:
            connection.close()
            raise refusal(answer.status, refused)
        return HttpEventStream(channel, answer)

    def inspect(self, container_id: str) -> Json:
        """Return one container."""
        found: Json = self._call("GET", f"{_of(container_id)}/json")
        return found

    def create(self, name: str, body: Json) -> str:
        """Create a container."""
        return str(self._call("POST", "/containers/create", {"name": name}, body)["Id"])

    def start(self, container_id: str) -> None:
        """Start a container."""
        self._call("POST", f"{_of(container_id)}/start")

    def stop(self, container_id: str, grace_seconds: int) -> None:
        """Stop a container; the call takes as long as the container does."""
        self._call("POST", f"{_of(container_id)}/stop", {"t": grace_seconds}, extra_seconds=grace_seconds)

    def remove(self, container_id: str, *, force: bool = True) -> None:
        """Remove a container."""
        self._call("DELETE", _of(container_id), {"v": "1", "force": "1" if force else "0"})

    def update(self, container_id: str, resources: Json) -> None:
        """Change limits."""
        self._call("POST", f"{_of(container_id)}/update", body=resources)

    def resize(self, container_id: str, width: int, height: int) -> None:
        """Set the size of the terminal."""
        self._call("POST", f"{_of(container_id)}/resize", {"w": width, "h": height})

    def stats(self, container_id: str) -> Json:
        """Return the figures of now, without those of a second ago that rates need."""
        query = {"stream": "0", "one-shot": "1"}
        found: Json = self._call("GET", f"{_of(container_id)}/stats", query)
        return found

    # streams

    def attach(self, container_id: str, *, stdin: bool) -> RawStream:
        """Connect to a container."""
        query = {"stream": "1", "stdin": "1" if stdin else "0", "stdout": "1", "stderr": "1"}
        return self._upgrade(f"{_of(container_id)}/attach?{urlencode(query)}", {})

    def create_exec(self, container_id: str, body: Json) -> str:
        """Prepare a command."""
        return str(self._call("POST", f"{_of(container_id)}/exec", body=body)["Id"])

    def start_exec(self, exec_id: str, *, tty: bool) -> RawStream:
        """Start a command."""
        return self._upgrade(f"/exec/{exec_id}/start", {"Detach": False, "Tty": tty})

    def inspect_exec(self, exec_id: str) -> Json:
        """Return a command's state."""
        found: Json = self._call("GET", f"/exec/{exec_id}/json")
        return found

    def resize_exec(self, exec_id: str, width: int, height: int) -> None:
        """Set the size of the terminal."""
        self._call("POST", f"/exec/{exec_id}/resize", {"w": width, "h": height})

    def _upgrade(self, path: str, body: Json) -> RawStream:
        """Send a request on a connection of its own and return that once the daemon has agreed."""
        content = json.dumps(body).encode()
        head = (
            f"POST {self._prefix}{path} HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        with self._failures():
            connection = self._connect()
            try:
                rest = _begin_stream(connection, head.encode() + content)
            except BaseException:
                connection.close()
                raise
        connection.settimeout(None)
        return RawStream(connection, rest)

    def _connect(self) -> socket.socket:
        if not self._path:
            return socket.create_connection(self._address, self._timeout)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(self._timeout)
        try:
            connection.connect(self._path)
        except OSError:
            connection.close()
            raise
        return connection

    # images

    def images(self) -> Sequence[Json]:
        """Return all images."""
        found: Sequence[Json] = self._call("GET", "/images/json")
        return found

    def image(self, reference: str) -> Json:
        """Return one image."""
        found: Json = self._call("GET", f"/images/{quote(reference, safe='/:@')}/json")
        return found

    def pull(self, reference: str, login: Json) -> None:
        """Pull an image; each piece of the answer is progress."""
        query = {"fromImage": reference}
        if "@" not in reference and ":" not in reference.rpartition("/")[2]:
            query["tag"] = "latest"  # without one all would be pulled
        headers = {"X-Registry-Auth": urlsafe_b64encode(json.dumps(login).encode()).decode()}
        path = f"/images/create?{urlencode(query)}"
        try:
            with self._answer("POST", path, self._pull_timeout, None, headers) as answer:
                for line in answer:
                    _check_progress(line)
        except EngineFailed as error:
            if error.status != TIMED_OUT:
                raise
            text = f"no progress of the pull for {self._pull_timeout:g}s (--image-pull-progress-deadline)"
            raise EngineFailed(TIMED_OUT, text) from error

    def remove_image(self, reference: str) -> None:
        """Remove a name of an image."""
        self._call("DELETE", f"/images/{quote(reference, safe='/:@')}")

    def close(self) -> None:
        """Do nothing: no connection is kept."""


def api_version(version: Json) -> str:
    """Return the version of the API to speak with a daemon, given what it answers to ``GET /version``."""

    def numbers(name: str) -> tuple[int, ...]:
        return tuple(int(part) for part in str(version.get(name) or "").split(".") if part)

    newest, oldest = numbers("ApiVersion") or API_VERSION, numbers("MinAPIVersion")
    return ".".join(map(str, max(min(API_VERSION, newest), oldest)))


def refusal(status: int, body: bytes) -> EngineFailed:
    """Return the failure that an answer tells, in the words of Docker's own client."""
    try:
        message = json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        message = body.decode(errors="replace").strip() or f"status {status}"
    return EngineFailed(status, f"Error response from daemon: {message}")


def _begin_stream(connection: socket.socket, request: bytes) -> bytes:
    """Send a request for a stream; return what was received of it together with the answer's head.

    Raises:
        EngineFailed: the daemon refuses.
        OSError: it does not answer.
    """
    connection.sendall(request)
    received = b""
    while b"\r\n\r\n" not in received:
        data = connection.recv(4096)
        if not data or len(received) > _HEAD_LIMIT:
            raise ConnectionResetError("the daemon ended the connection")
        received += data
    head, _, rest = received.partition(b"\r\n\r\n")
    status = int(head.split(None, 2)[1])
    if status >= _BAD_REQUEST:
        raise refusal(status, rest or connection.recv(_HEAD_LIMIT))
    return rest


def _of(container_id: str) -> str:
    """Return the path of a container; an id that came from a client of CRI names a container, and no other path."""
    return f"/containers/{quote(container_id, safe='')}"


def _check_progress(line: bytes) -> None:
    """Read a line of the progress of a pull.

    Raises:
        EngineFailed: it tells that the pull has failed.
    """
    told = json.loads(line) if line.strip() else {}
    if "error" in told:
        raise EngineFailed(500, str(told["error"]))
