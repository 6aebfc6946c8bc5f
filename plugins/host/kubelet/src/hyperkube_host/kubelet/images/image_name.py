"""The parts of an image's name, and what is wrong with one that has none.

Sources: kubernetes ``pkg/util/parsers/parsers.go``, distribution/reference ``normalize.go``, ``reference.go``,
opencontainers/go-digest ``digest.go``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperkube.kinds.images import REFERENCE

DEFAULT_DOMAIN, _LEGACY_DOMAIN, _OFFICIAL = "docker.io", "index.docker.io", "library"
_MOST_CHARACTERS = 255
_IDENTIFIER = re.compile(r"[a-f0-9]{64}")
_DIGEST_LENGTHS = {"sha256": 64, "sha384": 96, "sha512": 128}


class InvalidImageName(ValueError):
    """The image's name is none; the text is upstream's."""


class ImageName(NamedTuple):
    """An image's name in full: ``busybox`` is ``docker.io/library/busybox``, tag ``latest``."""

    repository: str
    tag: str
    digest: str


def parse_image_name(image: str) -> ImageName:
    """Return the parts of a name; the tag is ``latest`` when there is neither a tag nor a digest.

    Raises:
        InvalidImageName: it is none.
    """
    try:
        return _parsed(image)
    except InvalidImageName as error:
        raise InvalidImageName(f"couldn't parse image name {_quoted(image)}: {error}") from error


def with_default_tag(image: str) -> str:
    """Return the image's name with a tag; one with a digest needs none.

    Raises:
        InvalidImageName: it is none.
    """
    name = parse_image_name(image)
    if not name.digest and not image.endswith(f":{name.tag}"):
        return f"{image}:{name.tag}"
    return image


def _quoted(text: str) -> str:
    from hyperkube.machinery.field import quote

    return quote(text)


def _parsed(image: str) -> ImageName:
    if _IDENTIFIER.fullmatch(image):
        text = f"invalid repository name ({image}), cannot specify 64-byte hexadecimal strings"
        raise InvalidImageName(text)
    domain, remainder = split_domain(image)
    path = remainder.partition(":")[0]
    if path.lower() != path:
        raise InvalidImageName(f"invalid reference format: repository name ({path}) must be lowercase")
    found = REFERENCE.fullmatch(f"{domain}/{remainder}")
    if found is None:
        raise InvalidImageName("invalid reference format")
    if len(found["name"]) > _MOST_CHARACTERS:
        raise InvalidImageName(f"repository name must not be more than {_MOST_CHARACTERS} characters")
    tag, digest = found["tag"] or "", (found["digest"] or "").removeprefix("@")
    if digest:
        _check_digest(digest)
    return ImageName(found["name"], tag or ("" if digest else "latest"), digest)


def split_domain(image: str) -> tuple[str, str]:
    """Return the registry and the rest of a name: a first part that looks like no host belongs to Docker Hub."""
    first, slash, rest = image.partition("/")
    is_host = bool(slash) and (any(mark in first for mark in ".:") or first == "localhost" or first.lower() != first)
    domain, remainder = (first, rest) if is_host else (DEFAULT_DOMAIN, image)
    if domain == _LEGACY_DOMAIN:
        domain = DEFAULT_DOMAIN
    if domain == DEFAULT_DOMAIN and "/" not in remainder:
        remainder = f"{_OFFICIAL}/{remainder}"
    return domain, remainder


def _check_digest(digest: str) -> None:
    algorithm, _, encoded = digest.partition(":")
    if algorithm not in _DIGEST_LENGTHS:
        raise InvalidImageName("unsupported digest algorithm")
    if len(encoded) != _DIGEST_LENGTHS[algorithm]:
        raise InvalidImageName("invalid checksum digest length")
    if encoded.lower() != encoded:
        raise InvalidImageName("invalid checksum digest format")
