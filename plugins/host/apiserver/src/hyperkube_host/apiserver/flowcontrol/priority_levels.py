"""How many requests each priority level may have under way: its seats, out of the server's.

Source: kubernetes apiserver ``pkg/util/flowcontrol/apf_controller.go`` (syncPriorityLevelConfigurations).
"""

from __future__ import annotations

from collections.abc import Iterable
from math import ceil, floor

from hyperkube.machinery.dataclass import dataclass
from hyperkube.machinery.objects import Object, name_of

QUEUES, HAND, QUEUE_LENGTH = 64, 8, 50
_SHARES = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelSettings:
    """One PriorityLevelConfiguration with its seats worked out.

    Attributes:
        is_exempt: its requests never wait.
        nominal: seats that are its own.
        lendable: how many of them others may use while they are idle.
        most: seats that it may use at the most, with borrowed ones.
        queues: how many there are; 0 for a level that rejects what it has no seat for.
        hand: queues that a flow is dealt.
        queue_length: requests that may wait in each.
    """

    name: str
    uid: str = ""
    is_exempt: bool = False
    nominal: int = 0
    lendable: int = 0
    most: int = 0
    queues: int = 0
    hand: int = 1
    queue_length: int = 0


def share_out(levels: Iterable[Object], seats: int) -> dict[str, LevelSettings]:
    """Return the levels by name, with the server's seats shared out among them."""
    known = list(levels)
    total = sum(_shares(level) for level in known) or 1
    return {name_of(level): _settings(level, seats, ceil(seats * _shares(level) / total)) for level in known}


def _section(level: Object) -> Object:
    spec = level.get("spec") or {}
    found: Object = spec.get("exempt" if spec.get("type") == "Exempt" else "limited") or {}
    return found


def _shares(level: Object) -> int:
    default = 0 if (level.get("spec") or {}).get("type") == "Exempt" else _SHARES
    shares = _section(level).get("nominalConcurrencyShares")
    return int(default if shares is None else shares)


def _settings(level: Object, seats: int, nominal: int) -> LevelSettings:
    section = _section(level)
    is_exempt = (level.get("spec") or {}).get("type") == "Exempt"
    response = section.get("limitResponse") or {}
    queuing = response.get("queuing") or {}
    limit = section.get("borrowingLimitPercent")
    queued = response.get("type") == "Queue" and not is_exempt
    return LevelSettings(
        name=name_of(level),
        uid=level["metadata"].get("uid") or "",
        is_exempt=is_exempt,
        nominal=nominal,
        lendable=_percent(nominal, section.get("lendablePercent") or 0),
        most=max(seats, nominal) if limit is None or is_exempt else nominal + _percent(nominal, limit),
        queues=(queuing.get("queues") or QUEUES) if queued else 0,
        hand=queuing.get("handSize") or HAND,
        queue_length=queuing.get("queueLengthLimit") or QUEUE_LENGTH,
    )


def _percent(seats: int, percent: int) -> int:
    return floor(seats * percent / 100 + 0.5)
