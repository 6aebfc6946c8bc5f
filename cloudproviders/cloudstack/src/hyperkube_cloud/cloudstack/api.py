"""The one way to CloudStack's API: commands signed by the library ``cs``, lists over all pages, jobs until they end.

``cs`` writes each request and signs it; the request travels as those of other clouds do, by `rest.Send`, which reads
with a bound and verifies the server. Requests are POSTed, so that keys and signatures stand in no URL.
Sources: https://docs.cloudstack.apache.org/en/latest/developersguide/dev.html, cloudstack ``ApiErrorCode.java``,
``ParamProcessWorker.java`` (what is said of an id that there is not).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from hyperkube_cloud.cloudstack.config import CloudStackConfig
from hyperkube_lib.cloud_provider.rest import UNAUTHORIZED, Answer, Json, Refused, Request, Send, refusal

from hyperkube.hookspecs.cloud import CloudFailed, CloudUnavailable, RetryLater
from hyperkube.machinery.clock import Clock
from hyperkube.machinery.pages import EndlessList, all_pages

POLL: Final = 2.0
LONGEST: Final = 30
"""Polls for the end of a job before the caller is told to come back."""
AGAIN: Final = 5.0
PENDING, SUCCEEDED = 0, 1
REFUSING: Final = frozenset(range(531, 538))
"""HTTP statuses, which are CloudStack's error codes: rights, limits, capacity, conflicts; 530 is an internal error."""
_NO_SUCH: Final = re.compile(
    r"Invalid parameter (\w+) value=(\S*) due to incorrect long value format, or entity does not exist"
)


class NoSuchThing(Refused):
    """CloudStack says that there is nothing of the id that `parameter` had."""

    def __init__(self, message: str, parameter: str, value: str) -> None:
        super().__init__(message, 431, "431")
        self.parameter, self.value = parameter, value


class Api:
    """Calls commands; thread-safe if its `Send` is."""

    def __init__(self, send: Send, config: CloudStackConfig, clock: Clock) -> None:
        self._send, self._config, self._clock = send, config, clock
        self._client: Any = None

    def call(self, command: str, **params: object) -> Json:
        """Call a command with those parameters that are not empty; return what it answers.

        Raises:
            NoSuchThing: a parameter is the id of nothing.
            Refused: this one call was refused; CloudFailed: there are no credentials.
            CloudThrottled, CloudUnavailable: as `rest.refusal`; also where the answer is not CloudStack's.
        """
        from cs import CloudStackApiException, CloudStackException

        if not self._config.can_ask:
            raise CloudFailed(f"{command}: [Global] has no api-url, api-key and secret-key")
        given = {key: value for key, value in params.items() if value not in ("", None, [], ())}
        try:
            found = getattr(self._cs(), command)(**given)
        except CloudStackApiException as error:
            raise _refused(command, error.response.answer, error.error) from None
        except CloudStackException as error:
            if error.response is None or error.response.answer.status < 300:
                raise CloudUnavailable(f"{command}: answered with what is not CloudStack's") from None
            raise refusal(command, error.response.answer, None) from None
        if not isinstance(found, dict):
            raise CloudUnavailable(f"{command}: answered with what is not CloudStack's")
        if "errorcode" in found:
            raise _refused(command, Answer(status=_number(found["errorcode"]), headers={}, body=b""), found)
        return found

    def listed(self, command: str, member: str, **params: object) -> list[Json]:
        """Return the things of a list that match, over all pages: those of the project, of all who may see them.

        A server cuts a list at a size of its own, which the first page tells; an empty list is an empty answer.

        Raises:
            CloudUnavailable: they have no end, or are none; also all that `call` raises.
        """
        scope = {"listall": True, "projectid": self._config.project_id}
        size = count = seen = 0

        def read(page: str) -> tuple[list[Json], str]:
            nonlocal size, count, seen
            place = {"page": int(page), "pagesize": size} if page else {}
            answer = self.call(command, **scope, **params, **place)
            rows = answer.get(member, [])
            if not isinstance(rows, list) or not all(isinstance(row, dict) and row.get("id") for row in rows):
                raise CloudUnavailable(f"{command}: answered with no {member}")
            size = size or len(rows)
            seen += len(rows)
            count = max(count, _number(answer.get("count", 0)))
            return rows, str(int(page or 1) + 1) if rows and len(rows) >= size and seen < count else ""

        try:
            return list({str(row["id"]): row for row in all_pages(read)}.values())
        except EndlessList as error:
            raise CloudUnavailable(f"{command}: {error}") from None

    def find(self, command: str, member: str, ident: str, **params: object) -> Json | None:
        """Return the thing of an id, None if CloudStack says that there is none."""
        try:
            rows = self.listed(command, member, id=ident, **params)
        except NoSuchThing as error:
            if (error.parameter, error.value) == ("id", ident):
                return None
            raise
        if any(str(row["id"]) != ident for row in rows):
            raise CloudUnavailable(f"{command}: answered with another {member} than was asked for")
        return rows[0] if rows else None

    def run(self, command: str, **params: object) -> Json:
        """Call a command and wait until its job has ended; return the job's result, with the command's own answer.

        Raises:
            CloudFailed: the job failed.
            RetryLater: it is still at it.
        """
        begun = self.call(command, **params)
        job = begun.get("jobid")
        if not isinstance(job, str) or not job:
            raise CloudUnavailable(f"{command}: answered with no job")
        for attempt in range(LONGEST):
            if attempt:
                self._clock.sleep(POLL)
            state = self.call("queryAsyncJobResult", jobid=job)
            status, result = state.get("jobstatus"), state.get("jobresult")
            if status == PENDING and "jobstatus" in state:
                continue
            if not isinstance(result, dict):
                raise CloudUnavailable(f"{command}: its job {job} has no result")
            if status == SUCCEEDED:
                return {**begun, **result}
            raise CloudFailed(f"{command}: its job failed: {result.get('errorcode')}: {result.get('errortext')}")
        raise RetryLater(f"{command}: its job {job} has not ended yet", AGAIN)

    def wait(self, what: str, look: Callable[[], Json | None], is_ready: Callable[[Json], bool], held: Json) -> Json:
        """Return a thing once it is ready; `held` is what is known of it already.

        Raises:
            CloudFailed: it is gone.
            RetryLater: it is still on its way.
        """
        found: Json | None = held
        for _ in range(LONGEST):
            if found is None:
                raise CloudFailed(f"{what} is gone")
            if is_ready(found):
                return found
            self._clock.sleep(POLL)
            found = look()
        raise RetryLater(f"{what} is {(found or {}).get('state')}", AGAIN)

    def delete(self, command: str, ident: str) -> None:
        """Run a command that deletes the thing of an id; no error if there is none."""
        try:
            self.run(command, id=ident)
        except NoSuchThing as error:
            if (error.parameter, error.value) != ("id", ident):
                raise

    def _cs(self) -> Any:
        if self._client is None:
            from cs import CloudStack

            self._client = CloudStack(
                endpoint=self._config.api_url,
                key=self._config.api_key,
                secret=self._config.secret_key,
                method="post",
                session=_Session(self._send),
            )
        return self._client


class _Session:
    """Stands where ``cs`` has its connections."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def send(self, prepared: Any, **_transport: object) -> _Response:
        """Send what was prepared; how it is verified, and how long it may take, is the `Send`'s."""
        body = prepared.body or b""
        data = body.encode() if isinstance(body, str) else bytes(body)
        headers = {str(name): str(value) for name, value in prepared.headers.items()}
        command = parse_qs(data.decode()).get("command", [""])[0]
        url = urlsplit(prepared.url)._replace(query="").geturl()
        request = Request(method=prepared.method, url=url, headers={**headers, "Accept": "application/json"}, body=data)
        return _Response(command, self._send(request))


class _Response:
    """An answer in the shape that ``cs`` reads."""

    def __init__(self, command: str, answer: Answer) -> None:
        self._command, self.answer = command, answer
        self.status_code, self.reason = answer.status, ""
        self.headers = {"Content-Type": "application/json"}  # whether it is JSON is told by reading it

    def json(self) -> Any:
        """Return the content, which has the command's name where all is well.

        Raises:
            ValueError: it is none of CloudStack's.
        """
        try:
            content = json.loads(self.answer.body)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(content, dict) or len(content) != 1:
            raise ValueError("not one member")
        ((name, told),) = content.items()
        is_error = isinstance(told, dict) and "errorcode" in told
        if not is_error and (self.status_code != 200 or name != f"{self._command.lower()}response"):
            raise ValueError("not the answer to that command")
        return content


def _refused(command: str, answer: Answer, told: Any) -> CloudFailed:
    text = str(told.get("errortext", ""))
    if found := _NO_SUCH.search(text):
        return NoSuchThing(f"{command}: {text}", found[1], found[2])
    if answer.status == UNAUTHORIZED:
        text = "key or signature are refused"  # whatever it says of them
    return refusal(command, answer, (str(told["errorcode"]), text), refusing=REFUSING)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
