"""What every server does first with the values of its flags."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from hyperkube_lib.component_base.compatibility import with_compat
from hyperkube_lib.component_base.feature_gates import check_gates
from hyperkube_lib.component_base.interpreter import share_interpreter
from hyperkube_lib.component_base.logs import set_up_logging
from hyperkube_lib.component_base.process_memory import spare_arenas

from hyperkube.machinery.release import GIT_VERSION
from hyperkube.plugin.flags import Flag, FlagValues, typed

_log = logging.getLogger("hyperkube.start")


def begin(server: str, flags: Iterable[Flag], values: FlagValues) -> FlagValues:
    """Set up memory and logging, check the gates, log version and flags; return the values as ``--compat`` has them.

    Secrets are logged as ``CLASSIFIED``. Source of the lines: kubernetes component-base ``cli/flag/flags.go``
    (PrintFlags), and the version that every server logs first.

    Raises:
        UsageError: a flag's value cannot be.
    """
    spare_arenas()
    share_interpreter()
    flags = tuple(flags)
    set_up_logging(server, values)
    check_gates(values["feature-gates"], flags)
    completed = with_compat(server, values)
    _log.info("Version: %s", GIT_VERSION)
    if _log.isEnabledFor(logging.INFO):
        for name, text in sorted(typed(flags, completed).items()):
            _log.info("FLAG: --%s=%s", name, f'"{text}"')
    return completed
