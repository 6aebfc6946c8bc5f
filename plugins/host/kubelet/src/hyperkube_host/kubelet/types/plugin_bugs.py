"""A bug of a runtime or network plugin is told on the pod, with the plugin, its distribution and the hook."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from hyperkube.hookspecs.runtime import RuntimeFailed
from hyperkube.machinery.errors import HyperkubeError
from hyperkube.plugin.failures import culprit, described

_log = logging.getLogger("hyperkube.kubelet")


@contextmanager
def plugin_bugs() -> Iterator[None]:
    """Have what a plugin raises, and may not, end as `RuntimeFailed`; what the kubelet itself does wrong goes on.

    Raises:
        RuntimeFailed: a plugin has a bug.
    """
    try:
        yield
    except HyperkubeError:
        raise  # what plugins may raise
    except Exception as error:
        if not culprit(error):
            raise
        _log.exception("a plugin failed")
        raise RuntimeFailed(described(error)) from error
