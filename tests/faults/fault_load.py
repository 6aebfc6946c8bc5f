"""A random load on a few objects from several clients, and followers that watch them, over whatever happens."""

from __future__ import annotations

import http.client
import itertools
import random
import threading
import time

from fault_history import Change, Operation, Recorder, problems

MAPS = "/api/v1/namespaces/default/configmaps"
UNANSWERED = (OSError, http.client.HTTPException, ValueError)  # ValueError: a document that was cut off
REFUSALS = {404: "absent", 409: "conflict"}
VERBS = ("create", "update", "put", "delete", "get", "list")
WEIGHTS = (3, 6, 3, 1, 5, 2)
_NUMBERS = itertools.count()


def _object(key, value, version=0):
    meta = {"name": key, "labels": {"load": key.rpartition("-")[0]}}
    if version:
        meta["resourceVersion"] = str(version)
    return {"metadata": meta, "data": {"left": value, "right": value}}


def _value(item):
    """Return the value of an object; a half of one is none that anybody wrote."""
    data = item.get("data") or {}
    return data.get("left", "") if data.get("left") == data.get("right") else f"half: {data}"


class Client(threading.Thread):
    """Sends one random request after the other, to the next server when one does not answer.

    Attributes:
        quiet: the longest time without an answer since `forget_quiet`, seconds.
    """

    def __init__(self, number, servers, keys, recorder):
        super().__init__(daemon=True)
        self.number, self.servers, self.keys, self.recorder = number, list(servers), keys, recorder
        self.ended = threading.Event()
        self._dice = random.Random(number)
        self._known: dict[str, int] = {}
        self._place = number % len(self.servers)
        self.answers = self.writes = 0
        self._last = time.monotonic()
        self._longest = 0.0

    def run(self):
        count = 0
        while not self.ended.is_set():
            count += 1
            verb = self._dice.choices(VERBS, WEIGHTS)[0]
            key = self._dice.choice(self.keys)
            operation = Operation(verb, key, f"{self.number}-{count}", time.monotonic())
            if verb == "update":
                operation.expected = self._known.get(key, 1)
            self.recorder.add(operation)
            try:
                status, answer = self._send(operation)
            except UNANSWERED:
                status, answer = 0, None
            self._note(operation, status, answer)
            if status == 0 or status >= 500:
                self._place = (self._place + 1) % len(self.servers)
                self.ended.wait(0.05)

    def quiet(self):
        """Return the longest time without an answer, the present one included."""
        return max(self._longest, time.monotonic() - self._last)

    def forget_quiet(self):
        self._last, self._longest = time.monotonic(), 0.0

    def _send(self, operation):
        server, path = self.servers[self._place], f"{MAPS}/{operation.key}"
        match operation.verb:
            case "create":
                return server.post(MAPS, _object(operation.key, operation.value))
            case "update":
                return server.put(path, _object(operation.key, operation.value, operation.expected))
            case "put":
                return server.put(path, _object(operation.key, operation.value))
            case "delete":
                return server.delete(path)
            case "get":
                return server.request("GET", path)
        return server.request("GET", f"{MAPS}?labelSelector=load%3D{operation.key.rpartition('-')[0]}")

    def _note(self, operation, status, answer):
        """Write down the answer; the operation ended before anything that begins from now on."""
        if 0 < status < 500:
            now = time.monotonic()
            self._longest, self._last = max(self._longest, now - self._last), now
            self.answers += 1
        if status in REFUSALS:
            operation.answer = REFUSALS[status]
        elif status in {200, 201}:
            self._read(operation, answer)
            operation.answer = "done"
        elif 0 < status < 500:
            raise AssertionError(f"unexpected answer: {status} {answer}")
        if operation.answer != "unknown":
            operation.ended = time.monotonic()

    def _read(self, operation, answer):
        if operation.verb == "delete":
            operation.uid = answer["details"]["uid"]
            return
        operation.version = int(answer["metadata"]["resourceVersion"])
        if operation.verb == "list":
            operation.found = {item["metadata"]["name"]: _value(item) for item in answer["items"]}
            return
        self._known[operation.key] = operation.version
        if operation.verb == "get":
            operation.value = _value(answer)
        else:
            self.writes += 1


class Follower(threading.Thread):
    """Watches over everything that happens, always from the last version it saw."""

    def __init__(self, servers, selected, version):
        super().__init__(daemon=True)
        self.servers, self.selected, self.version = list(servers), selected, int(version)
        self.changes: list[Change] = []
        self.odd = []
        self.ended = threading.Event()

    def run(self):
        turn = 0
        while not self.ended.is_set():
            server = self.servers[turn % len(self.servers)]
            turn += 1
            path = f"{self.selected}&watch=1&resourceVersion={self.version}&timeoutSeconds=5"
            try:
                for event in server.watch(path, 8):
                    self._note(event)
            except UNANSWERED:
                self.ended.wait(0.02)

    def _note(self, event):
        if event["type"] not in {"ADDED", "MODIFIED", "DELETED"}:
            self.odd.append(event)
            return
        item = event["object"]
        meta = item["metadata"]
        self.version = int(meta["resourceVersion"])
        self.changes.append(Change(event["type"], meta["name"], self.version, _value(item), meta["uid"]))


class Load:
    """Clients and followers on some servers.

    Args:
        servers: API servers that share one store.
        clients: how many.
        keys: how many objects they fight for.
    """

    def __init__(self, servers, clients=8, keys=5):
        self.servers, self.recorder = list(servers), Recorder()
        name = f"load{next(_NUMBERS)}"
        self.selected = f"{MAPS}?labelSelector=load%3D{name}"
        start = self.servers[0].get(MAPS)["metadata"]["resourceVersion"]
        self.followers = [
            Follower(self.servers[number:] + self.servers[:number], self.selected, start) for number in range(2)
        ]
        names = [f"{name}-{number}" for number in range(keys)]
        self.clients = [Client(number, self.servers, names, self.recorder) for number in range(clients)]
        for thread in (*self.followers, *self.clients):
            thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for thread in (*self.clients, *self.followers):
            thread.ended.set()

    def forget_quiet(self):
        for client in self.clients:
            client.forget_quiet()

    def quiet(self):
        """Return how long any client had to wait for an answer, seconds."""
        return max(client.quiet() for client in self.clients)

    def answers(self):
        return [client.answers for client in self.clients]

    def finish(self, seconds=30):
        """End the load; return the problems of its history, once the followers have seen all of it."""
        for client in self.clients:
            client.ended.set()
        for client in self.clients:
            client.join(seconds)
            assert not client.is_alive()
        final = self.servers[0].get(self.selected)
        state = {item["metadata"]["name"]: _value(item) for item in final["items"]}
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and any(_state(one.changes) != state for one in self.followers):
            time.sleep(0.05)
        found = problems(self.recorder.operations, list(self.followers[0].changes))
        for follower in self.followers:
            follower.ended.set()
            found += [f"unexpected event: {event}" for event in follower.odd]
            if _state(follower.changes) != state:
                found.append(f"a watch ends with {_state(follower.changes)}, the store with {state}")
        if self.followers[0].changes != self.followers[1].changes:
            found.append("two watches saw different changes")
        return found


def _state(changes):
    state = {}
    for change in list(changes):
        if change.kind == "DELETED":
            state.pop(change.key, None)
        else:
            state[change.key] = change.value
    return state
