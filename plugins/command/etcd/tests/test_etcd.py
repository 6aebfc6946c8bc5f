"""etcdctl against the server: keys, transactions, watches, leases, and what it refuses."""

import json
import os
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from base64 import b64decode

import pytest
from hyperkube_command.etcd.command import addresses
from hyperkube_command.etcd.server import EtcdServer
from hyperkube_testing.peers.ports import free_port

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError
from hyperkube.storage.memory import MemoryStore
from hyperkube.testing.waiting import eventually

pytestmark = pytest.mark.skipif(shutil.which("etcdctl") is None, reason="there is no etcdctl")
SECONDS = 60


class Etcd:
    """The server in this process on a clock that the test moves, and etcdctl."""

    def __init__(self):
        self.clock = FakeClock()
        self.store = MemoryStore(self.clock)
        self.address = ("127.0.0.1", free_port())
        self.url = f"http://127.0.0.1:{self.address[1]}"
        self.server = EtcdServer(self.store, self.clock, [self.address])

    def words(self, *words):
        return ["etcdctl", f"--endpoints={self.url}", "--command-timeout=30s", *words]

    def ctl(self, *words, code=0, given=None):
        done = subprocess.run(
            self.words(*words),
            env=ENVIRONMENT,
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout if code == 0 else done.stderr

    def json(self, *words):
        return json.loads(self.ctl(*words, "--write-out=json"))


ENVIRONMENT = {**os.environ, "ETCDCTL_API": "3"}


@pytest.fixture(scope="module")
def etcd():
    served = Etcd()
    served.server.start()
    yield served
    served.server.close()
    served.store.close()


def test_keys_are_written_read_and_deleted(etcd):
    assert etcd.ctl("put", "a/1", "one") == "OK\n"
    etcd.ctl("put", "a/2", "two")
    etcd.ctl("put", "b", "three")

    assert etcd.ctl("get", "a/1").splitlines() == ["a/1", "one"]
    assert etcd.ctl("get", "--prefix", "a/").splitlines() == ["a/1", "one", "a/2", "two"]
    assert etcd.ctl("get", "--prefix", "--order=DESCEND", "--keys-only", "a/").split() == ["a/2", "a/1"]
    assert etcd.ctl("get", "--from-key", "", "--limit=1", "--keys-only").split() == ["a/1"]
    assert etcd.json("get", "--prefix", "a/")["count"] == 2
    assert etcd.ctl("del", "--prefix", "a/") == "2\n"
    assert etcd.ctl("get", "--prefix", "a/") == ""


def test_a_revision_can_be_read_again_until_it_is_compacted(etcd):
    first = etcd.json("put", "r", "old")["header"]["revision"]
    second = etcd.json("put", "r", "new")["header"]["revision"]

    assert second == first + 1
    assert etcd.ctl("get", "r", f"--rev={first}").splitlines() == ["r", "old"]
    etcd.ctl("compact", str(second))
    assert "required revision has been compacted" in etcd.ctl("get", "r", f"--rev={first}", code=1)
    assert "required revision is a future revision" in etcd.ctl("get", "r", f"--rev={second + 100}", code=1)


@pytest.mark.parametrize(
    ("condition", "done"),
    [
        ('version("t") = "1"', "yes"),
        ('version("t") > "1"', "no"),
        ('value("t") = "x"', "yes"),
        ('value("t") != "x"', "no"),
        ('mod("t") > "0"', "yes"),
        ('create("none") = "0"', "yes"),
    ],
)
def test_a_transaction_compares_and_does_one_thing_or_the_other(etcd, condition, done):
    etcd.ctl("del", "t")
    etcd.ctl("put", "t", "x")

    said = etcd.ctl("txn", given=f"{condition}\n\nput u yes\nget t\n\nput u no\n\n")

    assert said.split()[0] == ("SUCCESS" if done == "yes" else "FAILURE")
    assert etcd.ctl("get", "u", "--print-value-only").strip() == done


def test_a_key_is_written_once_in_a_transaction(etcd):
    said = etcd.ctl("txn", given='version("d") = "0"\n\nput d 1\nput d 2\n\n\n', code=1)

    assert "duplicate key given in txn request" in said


def test_a_watch_tells_what_was_and_what_comes(etcd):
    start = etcd.json("put", "w/1", "old")["header"]["revision"]
    words = etcd.words("watch", "--prefix", "w/", f"--rev={start}", "--prev-kv", "--write-out=json")
    watching = subprocess.Popen(words, env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
    events = []

    def read():
        for line in watching.stdout:
            events.extend(json.loads(line).get("Events") or ())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        eventually(lambda: len(events) == 1, SECONDS)
        etcd.ctl("put", "w/1", "new")
        etcd.ctl("del", "w/1")
        eventually(lambda: len(events) == 3, SECONDS)
    finally:
        watching.kill()
        watching.wait()
        reader.join(SECONDS)
        watching.stdout.close()

    assert [event.get("type", 0) for event in events] == [0, 0, 1]
    assert b64decode(events[1]["prev_kv"]["value"]) == b"old"


def test_the_keys_of_a_lease_end_with_it(etcd):
    granted = etcd.ctl("lease", "grant", "100").split()[1]
    etcd.ctl("put", "l/1", "x", f"--lease={granted}")
    assert etcd.json("get", "l/1")["kvs"][0]["lease"] == int(granted, 16)
    assert "l/1" in etcd.ctl("lease", "timetolive", granted, "--keys")

    etcd.clock.advance(90)
    assert "keepalived" in etcd.ctl("lease", "keep-alive", "--once", granted)
    etcd.clock.advance(90)
    assert etcd.ctl("get", "l/1", "--print-value-only").strip() == "x"
    etcd.clock.advance(20)

    assert etcd.ctl("get", "l/1") == ""
    assert "requested lease not found" in etcd.ctl("put", "l/1", "x", f"--lease={granted}", code=1)


def test_a_revoked_lease_takes_its_keys_along(etcd):
    granted = etcd.ctl("lease", "grant", "100").split()[1]
    etcd.ctl("put", "m", "x", f"--lease={granted}")

    assert "revoked" in etcd.ctl("lease", "revoke", granted)

    assert etcd.ctl("get", "m") == ""
    assert granted not in etcd.ctl("lease", "list")


def test_it_is_healthy_and_the_only_member(etcd):
    with urllib.request.urlopen(f"{etcd.url}/health", timeout=SECONDS) as answer:
        assert json.loads(answer.read())["health"] == "true"
    etcd.ctl("endpoint", "health")  # its exit code tells
    assert etcd.json("endpoint", "status")[0]["Status"]["version"] == "3.5.9"
    assert etcd.json("member", "list")["members"][0]["name"] == "default"
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{etcd.url}/nothing", timeout=SECONDS)


@pytest.mark.parametrize("url", ["https://127.0.0.1:2379", "127.0.0.1:2379", "http://127.0.0.1"])
def test_an_address_that_it_cannot_serve_is_one_line(url):
    with pytest.raises(UsageError, match="must be http://ADDRESS:PORT"):
        addresses(url)
