"""The server on real sockets of loopback, and what it asks elsewhere."""

import contextlib
import socket
import threading

import dns.flags
import dns.message
import dns.query
import dns.rcode
import pytest
from dns_example import build, objects
from hyperkube_addon.dns import messages
from hyperkube_addon.dns.forwarding import Routes, Upstream, upstream
from hyperkube_addon.dns.records import ServiceKey, service_records
from hyperkube_addon.dns.server import Server

from hyperkube.machinery.clock import FakeClock
from hyperkube.machinery.errors import UsageError

HOST = "127.0.0.1"
SECONDS = 60.0
WEB = "web.default.svc.cluster.local"


class Elsewhere:
    """A DNS server of the rest of the world: one text, one address, and a memory of what it was asked."""

    def __init__(self, address):
        self.address = address
        self.asked = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((HOST, 0))
        self.place = Upstream(HOST, self.socket.getsockname()[1])
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                wire, sender = self.socket.recvfrom(65535)
                if not wire:
                    return
                query = dns.message.from_wire(wire)
                name = query.question[0].name
                self.asked.append(name.to_text(omit_final_dot=True))
                made = dns.message.make_response(query)
                many = [f"198.51.{n // 250}.{n % 250}" for n in range(1000)] if name.labels[0].lower() == b"big" else []
                made.answer.append(dns.rrset.from_text(name, 60, "IN", "A", self.address, *many))
                self.socket.sendto(b"\0\0" + made.to_wire()[2:], sender)  # a forged answer comes first
                self.socket.sendto(made.to_wire(), sender)

    def close(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ending:
            ending.sendto(b"", self.place)
        self.thread.join(10)
        self.socket.close()


@pytest.fixture(scope="module")
def world():
    """A server about the cluster of ``cluster.yaml``, and two others that it asks."""
    zone = build(objects())
    default, stub = Elsewhere("192.0.2.1"), Elsewhere("192.0.2.2")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind((HOST, 0))
        nobody = Upstream(HOST, unused.getsockname()[1])
    routes = Routes({"corp.example": [stub.place]}, [nobody, default.place])
    # A clock that stands still: however long an answer takes on a busy machine, it is not asked for again.
    server = Server(zone, threading.Lock(), routes, FakeClock(), HOST)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield server, zone, default, stub
    server.close()
    thread.join(10)
    default.close()
    stub.close()
    assert not thread.is_alive()


def ask(world, name, kind="A", call=dns.query.udp, **how):
    query = dns.message.make_query(name, kind, **how)
    return call(query, HOST, timeout=SECONDS, port=world[0].port)


def addresses(answer):
    return sorted(row.to_text() for rows in answer.answer for row in rows if rows.rdtype == dns.rdatatype.A)


@pytest.mark.parametrize("call", [dns.query.udp, dns.query.tcp], ids=["udp", "tcp"])
def test_a_service_is_answered(world, call):
    answer = ask(world, WEB.upper(), call=call)

    assert addresses(answer) == ["10.0.0.20"]
    assert answer.answer[0].name.to_text() == f"{WEB.upper()}."
    assert answer.flags & dns.flags.AA
    assert answer.flags & dns.flags.RA


def test_an_absent_name_comes_with_the_soa(world):
    answer = ask(world, f"{WEB}.default.svc.cluster.local")

    assert answer.rcode() == dns.rcode.NXDOMAIN
    assert answer.authority[0].rdtype == dns.rdatatype.SOA
    assert answer.authority[0].ttl == 30


def test_a_change_is_seen_at_once(world):
    _, zone, _, _ = world
    spec = {"type": "ClusterIP", "clusterIP": "10.0.0.77"}
    made = {"metadata": {"name": "new", "namespace": "shop"}, "spec": spec}
    name, key = "new.shop.svc.cluster.local", ServiceKey("shop", "new")

    before = ask(world, name)
    zone.records.put(key, service_records(made, [], "cluster.local"))
    during = ask(world, name)
    zone.records.put(key, ())
    after = ask(world, name)

    assert [answer.rcode().name for answer in (before, during, after)] == ["NXDOMAIN", "NOERROR", "NXDOMAIN"]


def test_a_long_answer_is_cut_over_udp_and_whole_over_tcp(world):
    _, zone, _, _ = world
    rows = [{"addresses": [f"10.9.{number // 250}.{number % 250}"]} for number in range(400)]
    piece = {"metadata": {"name": "many"}, "endpoints": rows, "addressType": "IPv4"}
    made = {"metadata": {"name": "many", "namespace": "shop"}, "spec": {"clusterIP": "None"}}
    zone.records.put(ServiceKey("shop", "many"), service_records(made, [piece], "cluster.local"))

    plain = ask(world, "many.shop.svc.cluster.local", use_edns=False)
    large = ask(world, "many.shop.svc.cluster.local", use_edns=0, payload=4096)
    whole = ask(world, "many.shop.svc.cluster.local", call=dns.query.tcp)
    zone.records.put(ServiceKey("shop", "many"), ())

    assert plain.flags & dns.flags.TC
    assert large.flags & dns.flags.TC
    assert len(plain.to_wire()) <= 512
    assert 512 < len(large.to_wire()) <= 1232
    assert len(addresses(whole)) == 400


def test_other_names_are_asked_elsewhere_once(world):
    _, _, default, stub = world

    answers = [ask(world, "www.example.org") for _ in range(3)]

    assert {tuple(addresses(answer)) for answer in answers} == {("192.0.2.1",)}
    assert default.asked.count("www.example.org") == 1
    assert addresses(ask(world, "git.corp.example")) == ["192.0.2.2"]
    assert stub.asked == ["git.corp.example"]


def test_an_alias_brings_what_it_leads_to(world):
    answer = ask(world, "outer.default.svc.cluster.local", use_edns=0)

    assert answer.answer[0].to_text() == "outer.default.svc.cluster.local. 30 IN CNAME www.example.org."
    assert addresses(answer) == ["192.0.2.1"]


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (b"\1\2\1\0\0\1\0\0\0\0\0\0\7broken", dns.rcode.FORMERR),
        (b"\1\2\x28\0\0\0\0\0\0\0\0\0", dns.rcode.NOTIMP),
        (b"\1\2\1\0\0\0\0\0\0\0\0\0", dns.rcode.FORMERR),
        (b"\1\2\1\0\0\2\0\0\0\0\0\0" + b"\1a\0\0\1\0\1" * 2, dns.rcode.FORMERR),
        (b"\1\2\1\0\0\1\0\0\0\0\0\0\xc0\x0c\0\1\0\1", dns.rcode.FORMERR),
        (
            b"\1\2\1\0\0\1\0\0\0\0\x0f\xa0\1a\0\0\1\0\1" + b"\xc0\x0c\0\1\0\1\0\0\0\0\0\4\1\2\3\4" * 4000,
            dns.rcode.FORMERR,
        ),
        (
            b"\1\2\1\0\0\1\0\0\0\0\0\1\1a\0\0\1\0\1\0\0\x29\4\xd0\0\0\0\0\xea\x60" + b"\0\3\0\0" * 15000,
            dns.rcode.FORMERR,
        ),
        (dns.message.make_query(WEB, "ANY").to_wire(), dns.rcode.NOTIMP),
        (dns.message.make_query(WEB, "AXFR").to_wire(), dns.rcode.REFUSED),
        (dns.message.make_query("version.bind", "TXT", "CH").to_wire(), dns.rcode.REFUSED),
        (dns.message.make_query(WEB, "A", use_edns=1).to_wire(), dns.rcode.BADVERS),
    ],
    ids=[
        "cut",
        "notify",
        "no-question",
        "two-questions",
        "name-of-itself",
        "many-records",
        "many-options",
        "any",
        "transfer",
        "chaos",
        "future-edns",
    ],
)
def test_what_cannot_be_answered_is_refused(world, wire, code):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((HOST, world[0].port))
        client.settimeout(SECONDS)
        client.send(b"\1")  # no message at all: left alone
        client.send(wire[:2] + bytes([wire[2] | 0x80]) + wire[3:])  # an answer: left alone
        client.send(wire)
        answer = client.recv(65535)

    assert answer[:2] == wire[:2]
    assert dns.message.from_wire(answer).rcode() == code


def test_ten_thousand_questions_lose_none(world):
    wire = dns.message.make_query(WEB, "A").to_wire()
    left, sent = set(range(10_000)), 0
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect((HOST, world[0].port))
        client.settimeout(SECONDS)
        while left:
            # Never more on their way than the smallest of buffers holds.
            while sent < 10_000 and sent - (10_000 - len(left)) < 64:
                client.send(sent.to_bytes(2, "big") + wire[2:])
                sent += 1
            left.discard(int.from_bytes(client.recv(512)[:2], "big"))

    assert sent == 10_000


def test_several_addresses_are_given_in_changing_order():
    from hyperkube_addon.dns.zone import Zone

    built = build(objects())
    zone = Zone("cluster.local", built.records, 30, list, lambda rows: rows.reverse())

    answer = zone.answer("db.shop.svc.cluster.local", "A")

    assert [record.data for record, _ in answer.records] == ["10.1.0.4", "10.1.0.2", "10.1.0.1"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("10.0.0.1", ("10.0.0.1", 53)), ("10.0.0.1:5353", ("10.0.0.1", 5353)), ("[fd00::1]:54", ("fd00::1", 54)),
     ("fd00::1", ("fd00::1", 53))],
)  # fmt: skip
def test_a_server_is_named_with_or_without_its_port(text, expected):
    assert upstream(text) == expected


@pytest.mark.parametrize("text", ["dns.example", "10.0.0.1:x", ""])
def test_a_server_is_named_by_its_address(text):
    with pytest.raises(UsageError, match="invalid DNS server"):
        upstream(text)


def test_a_huge_answer_from_elsewhere_is_handed_on_unread(world):
    *_, stub = world

    found = [ask(world, "BIG.corp.example") for _ in range(2)]

    assert [len(addresses(answer)) for answer in found] == [1001, 1001]
    assert [name.lower() for name in stub.asked].count("big.corp.example") == 2, "it is not kept"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda wire: wire, True),
        (lambda wire: wire.replace(b"\x03big", b"\x03BIG"), True),
        (lambda wire: wire.replace(b"\x03big", b"\x03bug"), False),
        (lambda wire: wire[:2] + b"\0" + wire[3:], False),
        (lambda wire: wire[:4] + b"\0\2" + wire[6:], False),
        (lambda wire: wire[:11], False),
    ],
    ids=["right", "other-case", "other-name", "a-question", "two-questions", "cut"],
)
def test_a_huge_answer_must_repeat_the_question(change, expected):
    query = dns.message.make_query("big.example", "A")
    made = dns.message.make_response(query)
    made.answer.append(dns.rrset.from_text("big.example.", 60, "IN", "TXT", *(f"{n:0200}" for n in range(30))))

    assert messages.answers(query.to_wire()[2:], change(made.to_wire())) is expected
