"""What several filters together refuse, told as upstream tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperkube.hookspecs.scheduling import Filtered

if TYPE_CHECKING:
    from hyperkube.hookspecs.scheduling import Mask


def first_rejections(
    answers: dict[str, Filtered], count: int, feasible: Mask, pre_filtered: dict[str, Filtered]
) -> dict[str, Filtered]:
    """Return what each filter refused that those before it had kept: upstream stops at a node's first refusal.

    `outside` is what was refused before any of them.
    """
    import numpy as np

    if feasible.all():
        return {}
    left = np.ones(count, dtype=bool)
    rejections: dict[str, Filtered] = dict(pre_filtered)
    for each in pre_filtered.values():
        left &= each.mask
    for name, answer in answers.items():
        fresh = left & ~answer.mask
        if fresh.any():
            reasons = {text: hit for text, mask in answer.reasons.items() if (hit := mask & fresh).any()}
            unresolvable = None if answer.unresolvable is None else answer.unresolvable & fresh
            mine = Filtered(~fresh, reasons, unresolvable)
            before = rejections.get(name)
            rejections[name] = mine if before is None else _both(before, mine)
            left &= answer.mask
    return rejections


def _both(one: Filtered, other: Filtered) -> Filtered:
    """Return what two answers of one filter refuse, about different nodes."""
    reasons = dict(one.reasons)
    for text, mask in other.reasons.items():
        reasons[text] = reasons[text] | mask if text in reasons else mask
    unresolvable = other.unresolvable if one.unresolvable is None else one.unresolvable
    if one.unresolvable is not None and other.unresolvable is not None:
        unresolvable = one.unresolvable | other.unresolvable
    return Filtered(one.mask & other.mask, reasons, unresolvable)
