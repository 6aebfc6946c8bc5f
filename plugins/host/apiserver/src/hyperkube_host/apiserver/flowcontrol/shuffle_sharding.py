"""Shuffle sharding: each flow is dealt a few of a level's queues, so that one greedy flow rarely fills another's.

Source: kubernetes apiserver ``pkg/util/shufflesharding/dealer.go``, ``pkg/util/flowcontrol/apf_filter.go``.
"""

from __future__ import annotations

import hashlib


def flow_hash(schema: str, distinguisher: str) -> int:
    """Return 64 bits that stand for a flow."""
    digest = hashlib.sha256(schema.encode() + b"\0" + distinguisher.encode())
    return int.from_bytes(digest.digest()[:8], "little")


def deal(number: int, deck: int, hand: int) -> tuple[int, ...]:
    """Return `hand` different cards of a deck numbered from 0, picked by a number of 64 bits."""
    remainders: list[int] = []
    for dealt in range(min(hand, deck)):
        number, remainder = divmod(number, deck - dealt)
        remainders.append(remainder)
    cards: list[int] = []
    for place, remainder in enumerate(remainders):
        card = remainder
        for earlier in reversed(remainders[:place]):
            if card >= earlier:
                card += 1
        cards.append(card)
    return tuple(cards)
