"""What an unknown name may have been meant for, for the one line that a mistake prints."""

from __future__ import annotations

from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str:
    """Return the known name that looks most like `name`, whatever its case; empty if none does."""
    from difflib import get_close_matches

    by_word = {word.lower(): word for word in known}
    return next((by_word[word] for word in get_close_matches(name.lower(), by_word, n=1)), "")


def known_names(name: str, known: Iterable[str], label: str = "installed") -> str:
    """Return ``did you mean 'X'?; installed: X, Y``, without the question where nothing looks like `name`."""
    listed = sorted(known)
    near = closest(name, listed)
    return f"{f'did you mean {near!r}?; ' if near else ''}{label}: {', '.join(listed) or 'none'}"
