"""What a process of policies may say: the policies' authors can write to the pipe themselves, and are not believed.

A verdict belongs to one review and one policy. What is left in the pipe from the review before, what names another
policy, and what has another shape is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hyperkube.machinery.objects import Object

LEAST_CODE, MOST_CODE = 400, 599
"""HTTP statuses with which a request may be refused."""


def is_refusal(code: object) -> bool:
    """Tell whether a status refuses."""
    return isinstance(code, int) and not isinstance(code, bool) and LEAST_CODE <= code <= MOST_CODE


def is_verdict(told: Object, policy: int, serial: int) -> bool:
    """Tell whether a message is the verdict of a policy in the review with this number."""
    return (told.get("policy"), told.get("serial")) == (policy, serial) and all(
        check(told[member]) for member, check in _MEMBERS.items() if member in told
    )


def is_question(look: Any) -> bool:
    """Tell whether a message's ``look`` is a look-up: words."""
    return isinstance(look, list) and bool(look) and all(isinstance(word, str) for word in look)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_deny(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return _is_text(value.get("message")) and _is_text(value.get("reason")) and is_refusal(value.get("code"))


_MEMBERS: Mapping[str, Callable[[Any], bool]] = {
    "failed": _is_text,
    "trace": _is_text,
    "warnings": lambda value: isinstance(value, list) and all(map(_is_text, value)),
    "annotations": lambda value: isinstance(value, dict) and all(map(_is_text, value.values())),
    "deny": _is_deny,
    "object": lambda value: isinstance(value, dict),
    "patch": lambda value: isinstance(value, list),
}
