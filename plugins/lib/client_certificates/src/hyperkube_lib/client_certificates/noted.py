"""Certificates that were verified when they were made, noted beside the file of the authority that signed them.

A cluster's own clients show the same few certificates at every start, to servers that would load a library of 3.5 MiB
for nothing but to find again what was known when they were signed. ``CA.noted.json`` beside ``CA.crt`` names users by
the SHA-256 of their certificates (DER), and until when they are good. It counts only with the very authorities for
which it was written, by their own SHA-256, and where it belongs to the owner of their file, or to root, and to no one
else to write: who could forge it could as well put another authority there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from hyperkube.machinery.users import UserInfo


def notes_of(authority_file: str | Path) -> Path:
    """Return the path of the notes of an authority's file."""
    return Path(authority_file).with_suffix(".noted.json")


def guarded_notes(authority_file: str | Path) -> str:
    """Return the text of the notes beside an authority's file; empty where there are none that only its owner writes.

    Raises:
        OSError: the authority's file cannot be read.
    """
    notes = notes_of(authority_file)
    try:
        return notes.read_text() if _is_guarded(notes.stat(), Path(authority_file).stat()) else ""
    except FileNotFoundError:
        return ""


def _is_guarded(notes: os.stat_result, authority: os.stat_result) -> bool:
    return notes.st_uid in {authority.st_uid, 0} and not notes.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


class NotedCertificates:
    """Reads the notes of one authority's file, again whenever one of the two has changed."""

    def __init__(self, authority_file: str) -> None:
        """Take the path; nothing is read yet, and there need be no notes."""
        self._authority = Path(authority_file)
        self._notes = notes_of(authority_file)
        self._known: tuple[object, Mapping[str, Mapping[str, Any]]] = (None, {})

    def user(self, certificate: bytes, now: datetime) -> UserInfo | None:
        """Return the user that a DER certificate was noted for; None: nothing usable is noted of it."""
        row = self._current().get(hashlib.sha256(certificate).hexdigest())
        if row is None or not row["since"] <= now.timestamp() <= row["until"]:
            return None
        return UserInfo(row["user"], row["uid"], tuple(row["groups"]))

    def _current(self) -> Mapping[str, Mapping[str, Any]]:
        try:
            notes, authority = self._notes.stat(), self._authority.stat()
            seen = tuple((each.st_mtime_ns, each.st_size, each.st_uid, each.st_mode) for each in (notes, authority))
            if seen != self._known[0]:
                self._known = (seen, self._read() if _is_guarded(notes, authority) else {})
        except OSError:
            return {}
        return self._known[1]

    def _read(self) -> Mapping[str, Mapping[str, Any]]:
        signed_by = hashlib.sha256(self._authority.read_bytes()).hexdigest()
        try:
            read = orjson.loads(self._notes.read_bytes())
            rows: Mapping[str, Mapping[str, Any]] = read["certificates"]
            return rows if read["authority"] == signed_by else {}
        except (ValueError, KeyError, TypeError):  # not what `noting.note` makes: then everything is verified
            return {}
