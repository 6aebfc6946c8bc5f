"""Three etcd members and two API servers: whatever one of them, or the network to it, suffers, clients are served on.

A client turns to the other server when one fails. It must not be without an answer for more than five seconds; the
short form grants more, as it runs on machines that are busy with something else. ``./dev faults`` is the long one.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from fault_cluster import three_members, two_servers
from fault_load import Load
from server_processes import eventually, need_etcd

ROUNDS = int(os.environ.get("HYPERKUBE_ROUNDS", "1"))
LONG = "HYPERKUBE_ROUNDS" in os.environ
QUIET_SECONDS = 5.0 if LONG else 20.0
pytestmark = [pytest.mark.slow, pytest.mark.etcd, pytest.mark.timeout(120 + 60 * ROUNDS)]


@pytest.fixture(scope="function" if LONG else "module")
def cluster(tmp_path_factory):
    need_etcd()
    folder = tmp_path_factory.mktemp("members")
    with three_members(folder) as members, two_servers(folder, members) as servers:
        yield members, servers


def served_on(load, what):
    """Wait until every client had answers since the fault; none may have waited for too long."""
    before = load.answers()
    eventually(lambda: all(new > old + 3 for new, old in zip(load.answers(), before, strict=True)), 30, why=what)
    quiet = load.quiet()
    print(f"{what}: {quiet:.1f} s")
    assert quiet < QUIET_SECONDS, what
    return quiet


def busiest(members, load):
    """Return the member that most of the load goes to."""
    before = [member.front.passed for member in members]
    served_on(load, "before")
    return max(members, key=lambda member: member.front.passed - before[members.index(member)])


def freeze(member):
    member.process.send_signal(signal.SIGSTOP)


def restart(member):
    """End it, frozen as it may be, and start it again."""
    member.kill()
    member.start()


FAULTS = {
    "killed": (lambda member: member.kill(), lambda member: member.start()),
    "frozen": (freeze, restart),
    "cut off": (lambda member: member.front.cut(), lambda member: member.front.heal()),
    "silent": (lambda member: member.front.silence(), lambda member: member.front.heal()),
    "slow": (lambda member: setattr(member.front, "delay", 0.1), lambda member: member.front.heal()),
    "away from the others": (
        lambda member: (member.side.silence(), setattr(member.front, "delay", 0.05)),
        lambda member: (member.side.heal(), member.front.heal()),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_any_member_may_fail(cluster, fault):
    members, servers = cluster
    harm, mend = FAULTS[fault]
    with Load(servers, clients=4) as load:
        served_on(load, "before")
        for number in range(ROUNDS):
            for member in members if LONG else [busiest(members, load)]:
                name = f"round {number}: {member.name} {fault}"
                load.forget_quiet()
                harm(member)
                served_on(load, name)
                mend(member)
                member.wait()
                served_on(load, f"{name}, mended")
        found = load.finish()

    assert found == []


def test_any_server_may_fail(cluster):
    _, servers = cluster
    dice = random.Random(5)
    with Load(servers, clients=4) as load:
        for number in range(ROUNDS):
            for server in servers:
                time.sleep(dice.uniform(0.0, 0.3))
                load.forget_quiet()
                server.kill()
                served_on(load, f"round {number}: {server.log.stem} killed")
                server.start()
        found = load.finish()

    assert found == []
