"""What can go wrong with a network of CNI.

::

    CniError               the network could not be brought to the wished state
    ├── InvalidNetwork     its configuration cannot be used: mend the file
    └── ProgramFailed      a program of it refused, answered nonsense or was too slow
"""

from __future__ import annotations

from enum import IntEnum

from hyperkube.machinery.errors import HyperkubeError


class ErrorCode(IntEnum):
    """The codes of the specification that mean something to a runtime."""

    INCOMPATIBLE_VERSION = 1
    UNKNOWN_CONTAINER = 3
    TRY_AGAIN_LATER = 11
    PLUGIN_NOT_AVAILABLE = 50
    LIMITED_CONNECTIVITY = 51


class CniError(HyperkubeError):
    """The network could not be brought to the wished state; the text is the one that libcni gives."""


class InvalidNetwork(CniError):
    """A configuration that cannot be used: mend the file, or install the program that it names."""


class ProgramFailed(CniError):
    """A program refused, answered nonsense, or did not end in time; `code` is 0 unless it told one."""

    def __init__(self, message: str, code: int = 0) -> None:
        super().__init__(message)
        self.code = code
