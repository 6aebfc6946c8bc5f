"""How the threads of a server share the interpreter.

A thread that answers connections gives the interpreter up with each piece that OpenSSL reads or writes for it, and has
to ask for it again. If another one computes, it gets it after the switch interval: 5 ms in CPython, a hundred times of
what the piece takes. So a server that is busy with writes would let all its connections wait, new ones for seconds.
"""

from __future__ import annotations

import sys

SWITCH_SECONDS = 0.0005
"""How long a thread computes, at most, while another one waits."""


def share_interpreter() -> None:
    """Have threads take turns often enough for connections; a shorter interval that is set already stays."""
    sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
