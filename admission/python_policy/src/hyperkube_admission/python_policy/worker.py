"""The process in which policies run: loads them, answers one review after the other, and may be killed at any time.

Started as ``python -m hyperkube_admission.python_policy.worker FD`` with one end of a pipe.
It keeps nothing between reviews but the policies' own modules.
"""

from __future__ import annotations

import resource
import signal
import socket
import sys
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import orjson
from hyperkube_admission.python_policy.channel import Channel, Closed
from hyperkube_admission.python_policy.cluster import Cluster, ConnectedCluster
from hyperkube_admission.python_policy.loading import Loaded, NotLoaded, files, load
from hyperkube_admission.python_policy.review import Deny, Object, Patch, Review, review_from
from hyperkube_admission.python_policy.verdict import LEAST_CODE, MOST_CODE, is_refusal

_GRACE_SECONDS = 1.0
"""How long after the budget the kernel ends this process, when nothing else does: the plugin's process may be gone."""


def main() -> None:
    """Serve the pipe whose descriptor is the first argument."""
    channel = Channel(socket.socket(fileno=int(sys.argv[1])))
    try:
        setup = orjson.loads(channel.receive())
        _limit(int(setup["memory"]))
        try:
            policies = load(setup["entries"])
        except NotLoaded as error:
            channel.send({"failed": str(error)})
            return
        told = [{**asdict(one.declaration), "entry": one.entry} for one in policies]
        channel.send({"policies": told, "files": files(policies)})
        while True:
            _serve(channel, policies, channel.receive())
    except Closed:
        return


def _limit(memory: int) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory:
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))


def _serve(channel: Channel, policies: list[Loaded], body: bytes) -> None:
    """Run the policies that a message names; one answer for each, up to the first that ends the matter."""
    message = orjson.loads(body)
    seconds = message["budget"] + _GRACE_SECONDS

    def ask(question: Object) -> Any:
        channel.send(question)
        return orjson.loads(channel.receive())

    cluster = ConnectedCluster(ask)
    for place, index in enumerate(message["run"]):
        table = (message if place == 0 else orjson.loads(body))["review"]
        signal.setitimer(signal.ITIMER_REAL, seconds)
        answer = _verdict(policies[index], table, cluster)
        signal.setitimer(signal.ITIMER_REAL, 0)
        channel.send({"policy": index, "serial": message["serial"], **answer})
        if "memory" in answer:
            sys.exit(1)
        if "deny" in answer or ("failed" in answer and message["closed"][place]):
            return


def _verdict(policy: Loaded, table: Mapping[str, Any], cluster: Cluster) -> Object:
    """Return what a policy says, as the plugin reads it."""
    review = review_from(table, policy.params)
    before = orjson.dumps(review.object) if policy.declaration.mutates else b""
    try:
        said = policy.function(review) if policy.arguments == 1 else policy.function(review, cluster)
        answer = _changed(said, review, before) if policy.declaration.mutates else _judged(said)
    except Closed:
        raise
    except MemoryError:
        return {"failed": "it took more memory than it may", "memory": True}
    except BaseException as error:  # noqa: BLE001  whatever the author's code raises, also SystemExit
        line = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        return {"failed": line, "trace": traceback.format_exc(limit=-5)}
    if review.warnings:
        answer["warnings"] = [str(text) for text in review.warnings]
    if review.annotations:
        answer["annotations"] = {str(key): str(value) for key, value in review.annotations.items()}
    return answer


def _judged(said: Any) -> Object:
    if said is None:
        return {}
    if isinstance(said, str):
        said = Deny(said)
    if isinstance(said, Deny):
        if not is_refusal(said.code):
            raise TypeError(f"the code of a Deny is a number from {LEAST_CODE} to {MOST_CODE}, not {said.code!r}")
        return {"deny": {"message": str(said.message), "reason": str(said.reason), "code": said.code}}
    raise TypeError(f"a validating policy returns None, a message or a Deny, not {type(said).__name__}")


def _changed(said: Any, review: Review, before: bytes) -> Object:
    if isinstance(said, str | Deny):
        return _judged(said)
    if isinstance(said, Patch):
        return {"patch": list(said.operations)}
    if said is not None and not isinstance(said, dict):
        raise TypeError(
            f"a mutating policy returns None, an object, a Patch, a message or a Deny, not {type(said).__name__}"
        )
    after = review.object if said is None else said
    return {} if orjson.dumps(after) == before else {"object": after}


if __name__ == "__main__":
    main()
