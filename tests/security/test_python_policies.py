"""A policy in Python that misbehaves is cut: it holds up no request, leaves nothing behind, and crashes no server."""

import time
from pathlib import Path

import pytest
from hyperkube_admission.python_policy.process import Job, NoVerdict, Process, Turn
from hyperkube_admission.python_policy.verdict import is_question, is_refusal, is_verdict

from hyperkube.machinery.clock import SystemClock
from hyperkube.testing.waiting import eventually

BUDGET = 0.3
REVIEW = {
    "operation": "CREATE", "group": "", "version": "v1", "resource": "configmaps", "subresource": "", "kind": "ConfigMap",
    "namespace": "default", "name": "c", "user": {"name": "u", "uid": "", "groups": [], "extra": {}}, "old_object": {},
    "object": {"kind": "ConfigMap", "metadata": {"name": "c"}}, "options": {}, "dry_run": False,
}  # fmt: skip
HEAD = """
import json, os, struct, subprocess, sys, time
from hyperkube_admission.python_policy import validates

PIPE = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdecimal() else -1

def say(data):
    os.write(PIPE, data)

@validates("configmaps")
def misbehaves(review):
"""
BODIES = {
    "drips": "    import signal; signal.setitimer(signal.ITIMER_REAL, 0)\n    for byte in struct.pack('!I', 1 << 20) + b' ' * 1000: say(bytes([byte])); time.sleep(0.05)",
    "half a message": "    say(struct.pack('!I', 100) + b'{'); time.sleep(60)",
    "no JSON": "    say(struct.pack('!I', 3) + b'}{}'); time.sleep(60)",
    "no table": "    say(struct.pack('!I', 2) + b'[]'); time.sleep(60)",
    "too large": "    say(struct.pack('!I', (1 << 32) - 1)); time.sleep(60)",
    "ends": "    os._exit(0)",
    "sleeps deaf": "    import signal; signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64)); time.sleep(60)",
    "spins": "    while True: pass",
    "looks up without end": "    [say(struct.pack('!I', len(b)) + b) for b in [b'{\"look\":[\"x\"]}'] * 100000]",
}


@pytest.fixture
def process(tmp_path):
    made = []

    def make(body):
        path = tmp_path / "policies.py"
        path.write_text(HEAD + body + "\n")
        made.append(Process(Job([{"source": f"{path}:misbehaves"}], 0), SystemClock(), 1))
        return made[-1]

    yield make
    for process in made:
        process.end()


FORGED = {
    "another policy's": {"policy": 1, "serial": 1},
    "another review's": {"policy": 0, "serial": 2},
    "no number": {"policy": 0},
    "a refusal of another kind": {"policy": 0, "serial": 1, "deny": "no"},
    "a status that lets in": {"policy": 0, "serial": 1, "deny": {"message": "m", "reason": "r", "code": 200}},
    "a status that is none": {"policy": 0, "serial": 1, "deny": {"message": "m", "reason": "r", "code": 10**9}},
    "warnings of another kind": {"policy": 0, "serial": 1, "warnings": [5]},
    "annotations of another kind": {"policy": 0, "serial": 1, "annotations": {"a": {}}},
    "an object that is none": {"policy": 0, "serial": 1, "object": "x"},
    "a patch that is none": {"policy": 0, "serial": 1, "patch": {"op": "remove"}},
    "a question without words": {"look": 5},
    "a question of numbers": {"look": ["get", 1, 2, 3]},
}


@pytest.mark.parametrize("message", FORGED.values(), ids=FORGED)
def test_what_has_the_shape_of_no_verdict_is_none(message):
    assert not is_verdict(message, 0, 1)
    assert not is_question(message.get("look"))


def test_what_is_left_of_a_review_answers_no_other(process):
    forged = {"policy": 0, "serial": 1}
    process = process(
        f"    body = json.dumps({forged!r}).encode(); say(struct.pack('!I', len(body)) + body); return 'no'"
    )

    assert ask(process) == [forged]
    with pytest.raises(NoVerdict, match="what is no verdict"):
        ask(process)


@pytest.mark.parametrize("code", [200, 399, 600, 10**9, "403", True, None])
def test_a_refusal_has_a_status_that_refuses(code):
    assert not is_refusal(code)


def test_a_refusal_of_another_status_is_the_authors_mistake(process):
    process = process("    from hyperkube_admission.python_policy import Deny; return Deny('m', 200)")

    (told,) = ask(process)

    assert told["failed"] == "TypeError: the code of a Deny is a number from 400 to 599, not 200"


def ask(process):
    deadline = time.monotonic() + BUDGET
    return list(process.ask([Turn(0, BUDGET, closed=True)], REVIEW, deadline, lambda _: {"found": None}))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_it_is_cut_in_time_and_gives_no_verdict(process, body):
    process = process(body)
    began = time.monotonic()

    with pytest.raises(NoVerdict):
        ask(process)

    assert time.monotonic() - began < 4 * BUDGET


def test_what_it_started_goes_with_it(process, tmp_path):
    told = tmp_path / "pid"
    process = process(
        f"    child = subprocess.Popen(['sleep', '60']); open({str(told)!r}, 'w').write(str(child.pid)); time.sleep(60)"
    )

    with pytest.raises(NoVerdict):
        ask(process)
    process.end()

    assert eventually(lambda: not is_running(int(told.read_text())))


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_it_sees_nothing_of_the_servers_environment(process, tmp_path, monkeypatch):
    monkeypatch.setenv("CLOUD_PASSWORD", "hush")
    told = tmp_path / "seen"
    process = process(f"    open({str(told)!r}, 'w').write(repr(dict(os.environ)))")

    assert ask(process) == [{"policy": 0, "serial": 1}]

    assert "hush" not in told.read_text()
