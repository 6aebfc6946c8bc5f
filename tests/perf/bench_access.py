"""What it costs to know who asks, whether they may, and to admit what they write: a server with all of it, and a bare one.

Run by hand: ``.venv/bin/python tests/perf/bench_access.py``. The guarded server reads a bearer token, asks Node and RBAC,
and runs the default admission chain; the bare one is told the user, allows everything and runs AlwaysAdmit alone. Both keep
their objects in memory and are asked in turn, without sockets; the figure is the least CPU time of many rounds. The aims:
less than 150 us more for the creation of a pod, less than 5 us more for a hot read. Exits with 1 when one is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import orjson
from api_requests import ROOT, pod  # type: ignore[import-not-found]  # beside this file, not a package
from hyperkube_host.apiserver.server import ApiServer
from hyperkube_lib.serving.exchange import HttpRequest, Response

from hyperkube.machinery.users import LOOPBACK, UserInfo

ROUNDS = 40
WRITES, READS = 50, 2000
WRITE_LIMIT, READ_LIMIT = 150.0, 5.0
TOKEN = "0123456789abcdef"
ANN = UserInfo("ann", "1", ("system:authenticated",))
RULES = [
    {"apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": ["get", "list", "create"]},
    {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["*"]},
]


class Measured:
    """One server, and the requests of one user."""

    def __init__(self, options: dict[str, object], *, token: str = "") -> None:
        self.server = ApiServer(options={"storage-backend": "memory", **options})
        self.server.start()
        while not self.server.ready():
            time.sleep(0.02)
        self._headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
        self._user = None if token else ANN  # the bare server's reads are anonymous: it has to remember somebody
        self._numbers = count()
        self.send("POST", f"{ROOT}/serviceaccounts", {"metadata": {"name": "default"}}, LOOPBACK)
        self.send("POST", f"{ROOT}/configmaps", {"metadata": {"name": "read"}, "data": {"k": "v" * 500}}, LOOPBACK)
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        group = "rbac.authorization.k8s.io"
        self.send("POST", f"{rbac}/clusterroles", {"metadata": {"name": "bench"}, "rules": RULES}, LOOPBACK)
        subject = {"kind": "User", "name": "ann", "apiGroup": group}
        role = {"kind": "ClusterRole", "name": "bench", "apiGroup": group}
        binding = {"metadata": {"name": "bench"}, "subjects": [subject], "roleRef": role}
        self.send("POST", f"{rbac}/clusterrolebindings", binding, LOOPBACK)

    def send(self, method: str, path: str, body: object = None, user: UserInfo | None = None) -> Response:
        """Make a request as HTTP would, without a socket.

        Raises:
            RuntimeError: it is refused.
        """
        content = b"" if body is None else orjson.dumps(body)
        request = HttpRequest(method=method, path=path, headers=self._headers, body=content, user=user or self._user)
        answer = self.server.handler.handle(request)
        if not isinstance(answer, Response) or answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer}")
        return answer

    def create(self) -> None:
        """Create one pod."""
        self.send("POST", f"{ROOT}/pods", pod(f"p{next(self._numbers)}"))

    def reader(self) -> Callable[[], object]:
        """Return a function that makes one hot read.

        Raises:
            RuntimeError: the read is not answered from memory.
        """
        path = f"{ROOT}/configmaps/read"
        request = HttpRequest(method="GET", path=path, raw_path=path, headers=self._headers)
        self.server.handler.handle(request)
        if self.server.handler.hot(request) is None:
            raise RuntimeError("the read is not hot")
        return lambda: self.server.handler.hot(request)


def least(calls: list[Callable[[], object]], times: int) -> list[float]:
    """Make each call many times, in turn; return the least CPU microseconds of one, by call."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            begun = time.thread_time()
            for _ in range(times):
                call()
            best[place] = min(best[place], (time.thread_time() - begun) / times * 1e6)
    return best


def show(name: str, guarded: float, bare: float, limit: float) -> bool:
    """Print one line of the table; tell whether the aim is met."""
    print(f"{name:12} {guarded:8.1f} us {bare:8.1f} us {guarded / bare:7.2f} {guarded - bare:8.1f} us (aim: {limit:g})")
    return guarded - bare < limit


def main() -> int:
    """Measure both servers and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        tokens = Path(folder) / "tokens.csv"
        tokens.write_text(f"{TOKEN},ann,1\n")
        guarded = Measured({"token-auth-file": str(tokens), "authorization-mode": ["Node", "RBAC"]}, token=TOKEN)
        bare = Measured({"authorization-mode": ["AlwaysAllow"], "admission-control": ["AlwaysAdmit"]})
        print(f"{'':12} {'guarded':>11} {'bare':>11} {'ratio':>7} {'more':>11}")
        created = show("create pod", *least([guarded.create, bare.create], WRITES), WRITE_LIMIT)
        read = show("hot read", *least([guarded.reader(), bare.reader()], READS), READ_LIMIT)
        guarded.server.close()
        bare.server.close()
    return 0 if created and read else 1


if __name__ == "__main__":
    sys.exit(main())
