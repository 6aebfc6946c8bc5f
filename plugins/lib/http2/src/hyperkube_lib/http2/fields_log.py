"""What the library of compressed header fields must not log."""

from __future__ import annotations

import logging


def keep_fields_from_the_log() -> None:
    """Let hpack log warnings only: at DEBUG it writes each field that it codes, tokens, too."""
    logging.getLogger("hpack").setLevel(logging.WARNING)
