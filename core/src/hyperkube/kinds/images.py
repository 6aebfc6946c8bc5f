"""What an image's name says about pulling it.

Source: kubernetes ``pkg/apis/core/v1/defaults.go`` (SetDefaults_Container), ``pkg/util/parsers/parsers.go``.
"""

from __future__ import annotations

import re

_PATH = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_DOMAIN = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_HOST = rf"(?:{_DOMAIN}(?:\.{_DOMAIN})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
REFERENCE = re.compile(
    rf"(?P<name>(?:{_HOST}/)?{_PATH}(?:/{_PATH})*)(?::(?P<tag>\w[\w.-]{{0,127}}))?"
    r"(?P<digest>@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?",
    re.ASCII,
)
"""The grammar of github.com/distribution/reference."""


def pull_policy(image: str) -> str:
    """Return ``Always`` for an image that may change under its name (``latest`` or no tag), else ``IfNotPresent``."""
    match = REFERENCE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    tag = match["tag"] or ("" if match["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"
