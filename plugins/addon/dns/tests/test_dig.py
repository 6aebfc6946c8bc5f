"""The table of questions once more, asked by dig of a server on real sockets."""

import re
import shutil
import subprocess
import threading

import pytest
from dns_example import FOLDER, build, objects
from hyperkube_addon.dns.forwarding import Routes
from hyperkube_addon.dns.server import Server

from hyperkube.machinery.clock import SystemClock

HOST = "127.0.0.1"
SECONDS = 60
MODES = {"udp": "+noedns", "edns": "+bufsize=1232", "tcp": "+tcp"}
_STATUS = re.compile(r"status: (\w+)")
_PORT_AND_TARGET = slice(2, None)

pytestmark = pytest.mark.skipif(shutil.which("dig") is None, reason="dig is not installed")


@pytest.fixture(scope="module")
def port():
    """The port of a server that knows the cluster of ``cluster.yaml``, and asks no other server."""
    server = Server(build(objects()), threading.Lock(), Routes({}, []), SystemClock(), HOST)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server.port
    server.close()
    thread.join(10)
    assert not thread.is_alive()


def questions():
    """The rows that the zone answers by itself, as (type, name, answer)."""
    for line in (FOLDER / "queries.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            kind, name, answer = line.split(None, 2)
            if answer != "ELSEWHERE" and "then=" not in answer:
                yield kind, name, " ".join(word.rstrip(".") for word in answer.removesuffix(" +soa").split())


def dig(port, *words):
    """Return what dig prints: the header's comments and the records of the answer."""
    always = [f"@{HOST}", "-p", str(port), "+noall", "+comments", "+answer", f"+time={SECONDS}", "+tries=1"]
    done = subprocess.run(["dig", "-r", *always, *words], capture_output=True, text=True, check=True)
    return done.stdout


def told(text):
    """Return one answer as the table writes it."""
    rows = [line.split(None, 4) for line in text.splitlines() if line and not line.startswith(";")]
    found = []
    for _owner, _ttl, _in, kind, data in rows:
        words = data.split()[_PORT_AND_TARGET] if kind == "SRV" else data.split()
        text_of = " ".join(word.strip('".') for word in words)
        found.append(f"{kind}={text_of}")
    return " ".join([_STATUS.search(text)[1], *sorted(found)])


@pytest.mark.parametrize("mode", MODES)
def test_dig_reads_every_answer_of_the_table(port, tmp_path, mode):
    rows = [*questions()]
    batch = tmp_path / "questions"
    options = f"@{HOST} -p {port} {MODES[mode]} +noall +comments +answer +time={SECONDS} +tries=1"
    batch.write_text("".join(f"{options} {name} {kind}\n" for kind, name, _ in rows))

    done = subprocess.run(["dig", "-r", "-f", batch], capture_output=True, text=True, check=True)

    answers = [told(text) for text in done.stdout.split(";; Got answer:")[1:]]
    assert len(answers) == len(rows) > 200
    assert [(*row[:2], answer) for row, answer in zip(rows, answers, strict=True)] == rows


def test_dig_searches_as_a_pod_does(port):
    found = dig(port, "+search", "+domain=default.svc.cluster.local", "web")

    assert told(found) == "NOERROR A=10.0.0.20"


def test_dig_finds_the_name_of_an_address(port):
    assert told(dig(port, "-x", "10.0.0.20")) == "NOERROR PTR=web.default.svc.cluster.local"
    assert told(dig(port, "-x", "fd00::20")) == "NOERROR PTR=web.default.svc.cluster.local"
