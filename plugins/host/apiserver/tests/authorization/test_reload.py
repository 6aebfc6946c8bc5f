"""An AuthorizationConfiguration file that changes while the server runs."""

import json
import logging
import threading

import pytest
from hyperkube_host.apiserver.authorization.authorizers import load_authz
from hyperkube_host.apiserver.authorization.reload import AuthorizerReloader
from hyperkube_host.apiserver.authorization.union import Authorization
from hyperkube_host.apiserver.options import AuthorizationOptions, read
from hyperkube_host.apiserver.plugins import hooks
from hyperkube_testing.peers.peer import Peer

from hyperkube.hookspecs.authz import Attributes
from hyperkube.machinery.clock import FakeClock, SystemClock
from hyperkube.machinery.errors import UsageError
from hyperkube.machinery.users import UserInfo
from hyperkube.plugin import PluginContext

pytest.importorskip("hyperkube_authz.always_allow", reason="needs the authorizers that it names")

ALICE = UserInfo("alice")
QUESTION = Attributes(ALICE, "get", resource="pods")


class World:
    """A file, the authorizers it names, and a peer that answers for webhooks."""

    def __init__(self, folder, peer):
        self.path, self.peer, self.clock = folder / "authorization.json", peer, FakeClock()
        self.options = read(AuthorizationOptions, {"authorization-config": str(self.path)})
        self.verdicts = {}

    def write(self, *rows):
        config = {"apiVersion": "apiserver.config.k8s.io/v1", "kind": "AuthorizationConfiguration"}
        self.path.write_text(json.dumps({**config, "authorizers": list(rows)}))

    def webhook(self, name, verdict, **more):
        self.verdicts[name] = verdict
        self.peer.answers[f"/{name}"] = lambda body: {**body, "status": {self.verdicts[name]: True}}
        table = {
            "timeout": "3s",
            "subjectAccessReviewVersion": "v1",
            "failurePolicy": "Deny",
            "connectionInfo": {"type": "KubeConfigFile", "kubeConfigFile": self.peer.kubeconfig(f"/{name}")},
            **more,
        }
        return {"type": "Webhook", "name": name, "webhook": table}

    def context(self, _family, name, table=None):
        return PluginContext(name=name, clock=self.clock, settings=table or {})

    def start(self):
        host = load_authz(self.options, self.context)
        names = ("authz_authorize", "authz_epoch", "authz_rules")
        self.authorization = Authorization(*[hooks(host, name) for name in names])
        self.file = AuthorizerReloader(host, self.authorization, self.context, str(self.path), self.clock)

    def verdict(self):
        return self.authorization.authorize(QUESTION).verdict


@pytest.fixture
def world(tmp_path):
    with Peer(tmp_path) as peer:
        world = World(tmp_path, peer)
        yield world
        world.file.close()


ALLOW = {"type": "AlwaysAllow", "name": "allow"}
DENY = {"type": "AlwaysDeny", "name": "deny"}


def test_a_changed_file_decides_at_once_and_what_was_remembered_is_forgotten(world):
    world.write(ALLOW)
    world.start()
    before = world.authorization.epoch()
    assert world.verdict() == "allow"
    assert not world.file.check()

    world.write(DENY)

    assert world.file.check()
    assert world.verdict() == "no opinion"
    assert world.authorization.epoch() > before
    world.write(ALLOW)
    assert world.file.check()
    assert world.verdict() == "allow"


def test_webhooks_come_and_go_and_one_that_stays_keeps_what_it_remembers(world):
    first = world.webhook("first", "allowed")
    world.write(first)
    world.start()
    assert world.verdict() == "allow"

    world.write(world.webhook("second", "denied"), first)
    assert world.file.check()
    assert world.verdict() == "deny"

    world.write(first)
    assert world.file.check()
    assert world.verdict() == "allow"
    assert [path for path, _ in world.peer.asked] == ["/first", "/second"]


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ([], "authorizers: Required value: at least one authorization mode must be defined"),
        (
            [ALLOW, {"type": "ABAC", "name": "abac"}],
            "authorizer type ABAC is not allowed if it was not enabled at initial server startup",
        ),
        (
            [{"type": "Webhook", "name": "w", "webhook": {"timeout": "1m"}}],
            'authorizers[0].timeout: Invalid value: "1m": must be > 0s and <= 30s',
        ),
    ],
    ids=["empty", "new kind", "wrong webhook"],
)
def test_a_wrong_file_changes_nothing_and_is_looked_at_once(world, rows, text, caplog):
    world.write(ALLOW)
    world.start()
    world.write(*rows)

    with caplog.at_level(logging.WARNING):
        assert not world.file.check()
        assert not world.file.check()

    assert caplog.text.count(text) == 1
    assert world.verdict() == "allow"


def test_the_file_is_looked_at_by_itself_once_started(world):
    world.clock = SystemClock()
    world.write(ALLOW)
    world.start()
    world.file.start()
    world.write(DENY)
    changed = threading.Event()

    poll_until(lambda: changed.set() if world.verdict() == "no opinion" else None, changed)

    assert changed.is_set()


def poll_until(step, done, seconds=30.0):
    clock = SystemClock()
    end = clock.monotonic() + seconds
    while not done.is_set() and clock.monotonic() < end:
        step()
        clock.wait(done, 0.05)


def test_a_file_that_is_gone_changes_nothing(world, caplog):
    world.write(ALLOW)
    world.start()
    world.path.unlink()

    assert not world.file.check()
    assert world.verdict() == "allow"


def test_a_wrong_webhook_is_said_with_its_place_at_the_start(world):
    world.write(ALLOW)
    world.start()
    world.write(ALLOW, world.webhook("w", "allowed", failurePolicy="Perhaps"))

    with pytest.raises(UsageError, match=r"^authorizers\[1\].failurePolicy: Unsupported value"):
        load_authz(world.options, world.context)
