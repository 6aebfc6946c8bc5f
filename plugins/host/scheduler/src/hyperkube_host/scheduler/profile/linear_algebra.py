"""numpy without threads of its own: its library of linear algebra starts one for each further core when it is loaded.

Nothing here multiplies matrices, so they would never have work. The library reads the variable once, at its load.
Source: OpenBLAS ``driver/others/openblas_env.c``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

VARIABLE = "OPENBLAS_NUM_THREADS"


@contextmanager
def without_threads() -> Iterator[None]:
    """Have numpy start no threads when it is imported within; what the environment says already counts more."""
    if VARIABLE in os.environ:
        yield
        return
    os.environ[VARIABLE] = "1"
    try:
        yield
    finally:
        os.environ.pop(VARIABLE, None)  # programs that are run later may want threads
