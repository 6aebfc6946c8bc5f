"""ARP and neighbour discovery as bytes."""

import socket

import pytest
from hyperkube_addon.load_balancer_announcer.packets import announcement, answer, group, question

ASKER, OURS = bytes.fromhex("020000000001"), bytes.fromhex("020000000002")
ARP_REQUEST = bytes.fromhex(
    "ffffffffffff 020000000001 0806 0001 0800 06 04 0001 020000000001 c0000201 000000000000 c0000209"
)
SOLICITATION = (
    bytes.fromhex("3333ff000009 020000000001 86dd 60000000 0020 3a ff")
    + socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    + socket.inet_pton(socket.AF_INET6, "ff02::1:ff00:9")
    + bytes.fromhex("87 00 0000 00000000")
    + socket.inet_pton(socket.AF_INET6, "2001:db8::9")
    + bytes.fromhex("01 01 020000000001")
)


def test_an_arp_request_is_answered():
    asked = question(ARP_REQUEST)

    assert asked == ("192.0.2.9", "192.0.2.1", ASKER)
    assert answer(asked, OURS) == bytes.fromhex(
        "020000000001 020000000002 0806 0001 0800 06 04 0002 020000000002 c0000209 020000000001 c0000201"
    )


def test_a_solicitation_is_answered_with_a_sound_checksum():
    asked = question(SOLICITATION)
    frame = answer(asked, OURS)

    assert asked == ("2001:db8::9", "2001:db8::1", ASKER)
    assert frame[:14] == ASKER + OURS + b"\x86\xdd"
    source, target, body = frame[22:38], frame[38:54], frame[54:]
    assert target == socket.inet_pton(socket.AF_INET6, "2001:db8::1")
    assert (body[0], body[4]) == (136, 0xE0)
    assert body[8:24] == source == socket.inet_pton(socket.AF_INET6, "2001:db8::9")
    assert body[24:] == b"\x02\x01" + OURS
    words = source + target + len(body).to_bytes(4, "big") + b"\0\0\0\x3a" + body
    total = sum(int.from_bytes(words[at : at + 2], "big") for at in range(0, len(words), 2))
    assert total % 0xFFFF == 0


@pytest.mark.parametrize(
    "frame",
    [b"", ARP_REQUEST[:30], ARP_REQUEST[:21] + b"\2" + ARP_REQUEST[22:], SOLICITATION[:60], b"\0" * 12 + b"\x08\0" + b"\0" * 60],
    ids=["empty", "short-arp", "arp-reply", "short-solicitation", "ip"],
)  # fmt: skip
def test_what_is_no_question(frame):
    assert question(frame) is None


def test_everyone_is_told_of_an_address_that_moves():
    arp, ndp = announcement("192.0.2.9", OURS), announcement("2001:db8::9", OURS)

    assert arp[:6] == b"\xff" * 6
    assert arp[28:32] == arp[38:42] == socket.inet_aton("192.0.2.9")
    assert ndp[:6] == bytes.fromhex("333300000001")
    assert ndp[58] == 0xA0
    assert group("2001:db8::12:3456") == bytes.fromhex("3333ff123456")
