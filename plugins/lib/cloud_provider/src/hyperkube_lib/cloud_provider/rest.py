"""A cloud's REST API: JSON out and in, and failures as the hook of clouds names them.

How a request travels is a function, `Send`: over HTTP here, to a double in tests. What a cloud answers is believed only
if it has the shape of that cloud's answers: a page of a proxy that says 404 is not word that a machine is gone.
No error carries more than the method, the path and the cloud's own words; credentials stand in headers alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from hyperkube.client.exchange import Bounds, read_body
from hyperkube.hookspecs.cloud import CloudFailed, CloudThrottled, CloudUnavailable
from hyperkube.machinery.dataclass import dataclass
from hyperkube.plugin import Plugin, PluginContext

if TYPE_CHECKING:
    from urllib3 import PoolManager

Json = dict[str, Any]

CONNECT: Final = 5.0
READ: Final = 150.0
"""Seconds: clouds hold calls that wait for an operation for two minutes."""
BOUNDS: Final = Bounds(size=64 << 20, seconds=300.0)
"""What an answer may have, unpacked, and take."""
TOO_MANY: Final = 429
UNAUTHORIZED: Final = 401
NOT_FOUND: Final = 404


class Refused(CloudFailed):
    """The cloud refused one call; `status` is HTTP's, `code` the cloud's word for why."""

    def __init__(self, message: str, status: int, code: str = "") -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Missing(Refused):
    """The cloud says, in its own words, that there is no such thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent; `body` is empty for none."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Send = Callable[[Request], Answer]
"""Carries a request to the cloud; raises `CloudUnavailable` where nothing comes back."""

Explain = Callable[[Json], tuple[str, str] | None]
"""Finds a cloud's code and message in the body of a refusal; None if it is no refusal of that cloud's."""


def refusal(
    what: str,
    answer: Answer,
    told: tuple[str, str] | None,
    *,
    throttled: frozenset[str] = frozenset(),
    refusing: frozenset[int] = frozenset(),
) -> CloudFailed:
    """Return the error that a refusal is.

    Args:
        what: was asked, for people.
        answer: that came.
        told: the cloud's code and message, None where it is no word of that cloud's.
        throttled: the codes by which it asks for fewer calls, beside HTTP's.
        refusing: statuses from 500 on by which it refuses this one thing, and is well itself.
    """
    code, text = told or ("", "")
    message = f"{what}: {answer.status} {code}: {text}" if told else f"{what}: {answer.status}"
    retry_after = _seconds(answer.headers.get("retry-after", ""))
    fails = answer.status >= 500 and not (told and answer.status in refusing)
    if answer.status == TOO_MANY or code in throttled or (fails and retry_after):
        return CloudThrottled(message, retry_after)
    if fails or answer.status == UNAUTHORIZED:
        return CloudUnavailable(message)
    if told is None:
        return CloudUnavailable(f"{message}, and not in the cloud's own words")
    return (Missing if answer.status == NOT_FOUND else Refused)(message, answer.status, code)


class RestApi:
    """Calls one API; thread-safe if its `Send` is."""

    def __init__(self, send: Send, explain: Explain, *, throttled: frozenset[str] = frozenset()) -> None:
        """Take the way to the API; `throttled` are the codes by which it asks for fewer calls, beside HTTP's."""
        self._send, self._explain, self._throttled = send, explain, throttled

    def call(
        self,
        method: str,
        url: str,
        body: object = None,
        *,
        query: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        """Call, and return the object that is answered; an empty one for no content.

        Raises:
            Missing: there is no such thing.
            Refused: this one call was refused.
            CloudThrottled: too many calls.
            CloudUnavailable: the cloud cannot be reached, fails, refuses the credentials or answers with rubbish.
        """
        asked = f"{url}?{urlencode(query)}" if query else url
        said = {"Accept": "application/json", **(headers or {})}
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            said.setdefault("Content-Type", "application/json")
        answer = self._send(Request(method=method, url=asked, headers=said, body=data))
        what = f"{method} {urlsplit(url).path}"
        content = _parsed(answer.body)
        if answer.status < 300:
            if content is None:
                raise CloudUnavailable(f"{what}: answered {answer.status} with what is no JSON object")
            return content
        raise self._refusal(what, answer, content)

    def _refusal(self, what: str, answer: Answer, content: Json | None) -> CloudFailed:
        told = self._explain(content) if content else None
        return refusal(what, answer, told, throttled=self._throttled)


class HttpSend:
    """Sends over HTTP, with headers that authorize; those are made anew once where the cloud refuses them."""

    def __init__(
        self,
        authorize: Callable[[bool], Mapping[str, str]],
        *,
        ca_file: str = "",
        insecure: bool = False,
        fingerprint: str = "",
        read_timeout: float = READ,
        bounds: Bounds = BOUNDS,
    ) -> None:
        """Take what gives the headers; it is asked with True when those that it gave are refused.

        A `fingerprint` in hexadecimal is that of the only certificate which is accepted, whoever has signed it.
        """
        self._bounds = bounds
        self._authorize = authorize
        self._pool: PoolManager | None = None
        self._ca_file, self._insecure, self._read_timeout = ca_file, insecure, read_timeout
        self._fingerprint = fingerprint

    def __call__(self, request: Request) -> Answer:
        """Send.

        Raises:
            CloudUnavailable: nothing came back.
        """
        answer = self._once(request, self._authorize(False))
        return answer if answer.status != UNAUTHORIZED else self._once(request, self._authorize(True))

    def close(self) -> None:
        """Close the connections that are kept."""
        if self._pool is not None:
            self._pool.clear()

    def _once(self, request: Request, authorization: Mapping[str, str]) -> Answer:
        from urllib3.exceptions import HTTPError

        try:
            found = self._connections().request(
                request.method,
                request.url,
                body=request.body or None,
                headers={**request.headers, **authorization},
                redirect=False,
                preload_content=False,
            )
            try:
                body = read_body(partial(found.read1, decode_content=True), self._bounds)
            except BaseException:
                found.close()  # what is left of the answer is not read, so its connection is of no use
                raise
        except (HTTPError, OSError) as error:
            where = urlsplit(request.url)
            told = type(error).__name__ if isinstance(error, HTTPError) else str(error)
            raise CloudUnavailable(f"{request.method} {where.netloc}{where.path}: {told}") from None
        found.release_conn()
        return Answer(
            status=found.status, headers={name.lower(): value for name, value in found.headers.items()}, body=body
        )

    def _connections(self) -> PoolManager:
        if self._pool is None:
            import urllib3

            self._pool = urllib3.PoolManager(
                maxsize=8,
                retries=False,
                timeout=urllib3.Timeout(connect=CONNECT, read=self._read_timeout),
                cert_reqs="CERT_NONE" if self._insecure or self._fingerprint else "CERT_REQUIRED",
                ca_certs=self._ca_file or None,
                assert_fingerprint=self._fingerprint or None,
            )
        return self._pool


class RestCloud(Plugin):
    """The plugin of a provider that sends over HTTP: its connections are closed with it."""

    def __init__(self, context: PluginContext) -> None:
        super().__init__(context)
        self._open: list[HttpSend] = []

    def kept(self, send: HttpSend) -> HttpSend:
        """Close this, too, when the plugin is closed; return it."""
        self._open.append(send)
        return send

    def close(self) -> None:
        """Close the connections."""
        for each in self._open:
            each.close()


def _parsed(body: bytes) -> Json | None:
    """Return the object of a body, an empty one for none; None for anything else."""
    if not body.strip():
        return {}
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def _seconds(text: str) -> float | None:
    return float(text) if text.isdecimal() else None
