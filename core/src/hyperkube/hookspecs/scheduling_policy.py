"""Scheduling plugins that arguments of a 1.x policy configure, as `hyperkube.hookspecs.scheduling` plugins' classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from hyperkube.machinery.objects import Object


@runtime_checkable
class PolicyArguments(Protocol):
    """A plugin class that turns arguments of predicates or priorities into its own settings.

    Which arguments it takes stands in ``scheduling.toml`` beside the plugin.
    """

    @classmethod
    def policy_settings(cls, arguments: Mapping[str, Sequence[Object]]) -> Mapping[str, Any]:
        """Return the settings that the arguments of one name come down to.

        Called: on the class, once for predicates and once for priorities, while a policy is read.

        Args:
            arguments: the name, e.g. ``labelPreference``, and the arguments of that name in the policy's order; never
                changed. Those of priorities with scores from 0 to 10 have their ``weight`` among all of them.
        """
