"""Questions and answers on the wire.

Imported with the first question: a cluster whose pods ask for no name pays nothing for the library.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hyperkube_addon.dns.records import CNAME, NS, PRIORITY, PTR, SRV, TXT, Record
from hyperkube_addon.dns.zone import Answer

import dns.edns
import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdata
import dns.rdataclass
import dns.rdatatype
import dns.rrset

PAYLOAD = 1232
"""The largest answer over UDP: passes every path unfragmented (DNS flag day 2020)."""
OLD_PAYLOAD = 512
LARGEST = 65535
LARGEST_QUERY = 4096
"""Bytes that a question may have with all its options: 64 KiB of records cost 1.7 seconds of the only thread."""
LARGEST_PARSED = 4096
"""Bytes of an answer from elsewhere that are parsed, for the same reason: a longer one is handed on as it is."""
_HEADER = 12
_RESPONSE_BIT = 0x80
_HOSTS = {CNAME, NS, PTR}


class Query(NamedTuple):
    """A sound question.

    Attributes:
        message: as it came.
        name: asked for, in small letters, without the last dot.
        kind: the type's mnemonic.
        limit: how long an answer over UDP may be.
    """

    message: dns.message.Message
    name: str
    kind: str
    limit: int


def read(wire: bytes) -> Query | bytes | None:
    """Return the question, or the answer that refuses it, or None for what is to be left alone."""
    if len(wire) < _HEADER or wire[2] & _RESPONSE_BIT:
        return None  # an answer to an answer would go on for ever
    if wire[2] >> 3 & 0xF != dns.opcode.QUERY:
        return _header(wire, dns.rcode.NOTIMP)
    if not _is_acceptable(wire):
        return _header(wire, dns.rcode.FORMERR)
    try:
        message = dns.message.from_wire(wire)
    except (dns.exception.DNSException, ValueError):
        return _header(wire, dns.rcode.FORMERR)
    if message.edns > 0:
        return written(_refusal(message, dns.rcode.BADVERS), OLD_PAYLOAD)
    question = message.question[0]
    if question.rdclass != dns.rdataclass.IN or question.rdtype in {dns.rdatatype.AXFR, dns.rdatatype.IXFR}:
        return written(_refusal(message, dns.rcode.REFUSED), OLD_PAYLOAD)
    if question.rdtype == dns.rdatatype.ANY:
        return written(_refusal(message, dns.rcode.NOTIMP), OLD_PAYLOAD)
    limit = OLD_PAYLOAD if message.edns < 0 else min(max(message.payload, OLD_PAYLOAD), PAYLOAD)
    name = question.name.to_text(omit_final_dot=True).lower()
    return Query(message, name, dns.rdatatype.to_text(question.rdtype), limit)


def _is_acceptable(wire: bytes) -> bool:
    """Tell from its length and its header whether a message is worth to be parsed.

    Source: github.com/miekg/dns acceptfunc.go, which CoreDNS asks: one question, and hardly any records.
    """
    questions, answers, authorities, additional = struct.unpack_from(">4H", wire, 4)
    return len(wire) <= LARGEST_QUERY and questions == 1 and answers <= 1 and authorities <= 1 and additional <= 2


def _header(wire: bytes, code: dns.rcode.Rcode) -> bytes:
    """Return a refusal without a question, for what cannot be read."""
    return wire[:2] + bytes([_RESPONSE_BIT | (wire[2] & 0x79), int(code)]) + bytes(8)


def _refusal(message: dns.message.Message, code: dns.rcode.Rcode) -> dns.message.Message:
    made = dns.message.make_response(message, our_payload=PAYLOAD)
    made.set_rcode(code)
    return made


def failure(query: Query) -> bytes:
    """Return the answer that says that none can be had."""
    return written(_refusal(query.message, dns.rcode.SERVFAIL), query.limit)


def response(query: Query, answer: Answer, soa: Record, *, recursion: bool) -> dns.message.Message:
    """Return an answer of the cluster's zone as a message.

    Args:
        query: the question.
        answer: what is known.
        soa: the zone's start of authority.
        recursion: whether other names are asked elsewhere.
    """
    made = dns.message.make_response(query.message, recursion_available=recursion, our_payload=PAYLOAD)
    made.flags |= dns.flags.AA
    made.set_rcode(dns.rcode.Rcode(answer.code.value))
    asked = query.message.question[0].name
    made.answer.extend(_sets(answer.records, query.name, asked))
    made.additional.extend(_sets(answer.additional, query.name, asked))
    if answer.is_negative:
        made.authority.extend(_sets([(soa, int(soa.data.rpartition(" ")[2]))], query.name, asked))
    return made


def _sets(rows: Sequence[tuple[Record, int]], name: str, asked: dns.name.Name) -> Iterable[dns.rrset.RRset]:
    """Return records as sets; the name asked for is written as it was asked."""
    sets: dict[tuple[str, str], dns.rrset.RRset] = {}
    share = max(1, 100 // sum(record.type == SRV for record, _ in rows)) if rows and rows[-1][0].type == SRV else 1
    for record, ttl in rows:
        found = sets.get((record.name, record.type))
        if found is None:
            owner = asked if record.name == name else dns.name.from_text(record.name)
            kind = dns.rdatatype.from_text(record.type)
            found = sets[record.name, record.type] = dns.rrset.RRset(owner, dns.rdataclass.IN, kind)
        found.add(dns.rdata.from_text("IN", record.type, _text(record, share)), ttl)
    return sets.values()


def _text(record: Record, share: int) -> str:
    if record.type in _HOSTS:
        return f"{record.data}."
    if record.type == SRV:
        return f"{PRIORITY} {share} {record.data}."
    return f'"{record.data}"' if record.type == TXT else record.data


def written(message: dns.message.Message, limit: int) -> bytes:
    """Return a message as bytes; one that is too long loses records, and says so unless they were mere additions.

    As many addresses are left as fit: not every resolver asks again over TCP.
    """
    try:
        return message.to_wire(max_size=limit)
    except dns.exception.TooBig:
        message.additional.clear()
    while message.answer:
        try:
            return message.to_wire(max_size=limit)
        except dns.exception.TooBig:
            message.flags |= dns.flags.TC
        rows = message.answer[-1]
        for row in list(rows)[-(len(rows) // 8 + 1) :]:
            rows.items.pop(row)
        if not rows:
            message.answer.pop()
    return message.to_wire(max_size=limit, prefer_truncation=True)


def question(name: str, kind: str) -> bytes:
    """Return a question of our own about a name elsewhere."""
    return dns.message.make_query(name, kind, use_edns=0, payload=PAYLOAD).to_wire()


def answers(question: bytes, answer: bytes) -> bool:
    """Tell whether an answer repeats the question, given without its number, and is sound as far as read."""
    if len(answer) < _HEADER or not answer[2] & _RESPONSE_BIT:
        return False
    if len(answer) > LARGEST_PARSED:
        return _repeats(question, answer)
    try:
        asked, found = dns.message.from_wire(b"\0\0" + question), dns.message.from_wire(answer)
    except (dns.exception.DNSException, ValueError):
        return False
    return asked.question == found.question


def _repeats(question: bytes, answer: bytes) -> bool:
    """Compare the questions as bytes: a sound one has one name, without pointers, and then type and class."""
    end = start = _HEADER - 2
    while question[end]:
        end += 1 + question[end]
    end += 1
    length = end - start
    name, found = question[start:end], answer[_HEADER : _HEADER + length]
    kind, kind_found = question[end : end + 4], answer[_HEADER + length : _HEADER + length + 4]
    return answer[4:6] == b"\0\1" and name.lower() == found.lower() and kind == kind_found


def with_alias_target(made: dns.message.Message, wire: bytes | None) -> dns.message.Message:
    """Add to the answer what was found elsewhere about the name that its alias leads to."""
    if wire is None or len(wire) > LARGEST_PARSED:
        made.set_rcode(dns.rcode.SERVFAIL)
        return made
    found = dns.message.from_wire(wire)
    made.answer.extend(found.answer)
    made.set_rcode(found.rcode())
    return made


def lifetime(wire: bytes) -> int | None:
    """Return for how many seconds an answer from elsewhere holds; None if it is not to be kept."""
    if len(wire) > LARGEST_PARSED:
        return None
    message = dns.message.from_wire(wire)
    if message.flags & dns.flags.TC or message.rcode() not in {dns.rcode.NOERROR, dns.rcode.NXDOMAIN}:
        return None
    times = [rows.ttl for section in (message.answer, message.authority) for rows in section]
    times += [rows[0].minimum for rows in message.authority if rows.rdtype == dns.rdatatype.SOA]
    return min(times, default=None)


def aged(wire: bytes, seconds: int) -> bytes:
    """Return a kept answer with times to live that are so many seconds shorter."""
    message = dns.message.from_wire(wire)
    for section in (message.answer, message.authority, message.additional):
        for rows in section:
            rows.ttl = max(0, rows.ttl - seconds)
    return message.to_wire()
