"""A connection takes no more questions than its peer takes answers."""

import selectors
import socket

from hyperkube_addon.dns.streams import MOST_WAITING, Stream, framed

ANSWER = b"a" * 10_000
QUESTIONS = 1000


def turn(selector):
    """Let the stream do what can be done at once; tell whether there was anything."""
    events = selector.select(0)
    for key, mask in events:
        key.data(mask)
    return bool(events)


def test_who_reads_no_answers_is_asked_nothing_more():
    here, peer = socket.socketpair()
    received = []

    def answer(message):
        received.append(message)
        stream.send(ANSWER)

    with selectors.DefaultSelector() as selector, peer:
        stream = Stream(here, selector, answer, lambda: None)
        peer.sendall(framed(b"q") * QUESTIONS)
        while turn(selector):
            pass
        waiting = len(received)
        peer.setblocking(False)
        taken = 0
        while taken < QUESTIONS * len(framed(ANSWER)):
            turn(selector)
            try:
                taken += len(peer.recv(1 << 20))
            except BlockingIOError:
                continue
        stream.close()

    assert waiting < QUESTIONS
    assert waiting * len(ANSWER) < 4 * MOST_WAITING + (1 << 20)
    assert len(received) == QUESTIONS
