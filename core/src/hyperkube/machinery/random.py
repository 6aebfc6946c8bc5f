"""Random name suffixes, from a generator that arrives from outside.

The alphabet has no vowels and no look-alikes, so that no words and no misreadings come out.
Sources: kubernetes apimachinery ``pkg/util/rand/rand.go``, apiserver ``pkg/storage/names/generate.go``.
"""

from __future__ import annotations

from random import Random

ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
SUFFIX_LENGTH = 5
NAME_MAX = 63
BASE_MAX = NAME_MAX - SUFFIX_LENGTH
_RANDOM, _VERSION_4 = ~(0xF << 76 | 0x3 << 62), 0x4 << 76 | 0x2 << 62


def suffix(random: Random, length: int = SUFFIX_LENGTH) -> str:
    """Return `length` random characters of Kubernetes' alphabet."""
    return "".join(random.choices(ALPHABET, k=length))


def generate_name(random: Random, base: str) -> str:
    """Return a name for ``generateName``: the base, cut to 58 characters, and five random ones."""
    return base[:BASE_MAX] + suffix(random)


def unique_id(random: Random) -> str:
    """Return a random UUID (RFC 9562, version 4), many times faster than asking the system for each."""
    text = f"{random.getrandbits(128) & _RANDOM | _VERSION_4:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def safe_encode(text: str) -> str:
    """Spell a text (the decimals of a hash) in the alphabet, character by character: ``pod-template-hash``."""
    return "".join(ALPHABET[byte % len(ALPHABET)] for byte in text.encode())
