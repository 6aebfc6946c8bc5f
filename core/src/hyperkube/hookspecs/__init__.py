"""The contracts of the plugin families, one module each: what a plugin may implement and what it may count on.

Every hook's docstring has one frame: what it does in one imperative line; ``Called:`` when, how often, by whom and on
which thread; ``Order:`` if it matters; ``Returns:`` and ``Raises:``; ``Must:`` the promises, each one of them a test
in the family's contract class under `hyperkube.testing.contracts` or in a kit, `hyperkube_testing`.
"""

import pluggy

HOOK_API = 1
"""Grows by one when a hook changes in a way that breaks plugins written for the number before.

A distribution says in its metadata which hook APIs it was written for (see `hyperkube.plugin.loader.hook_apis`); the
loader refuses one that does not name this number.
"""

hookspec = pluggy.HookspecMarker("hyperkube")
hookimpl = pluggy.HookimplMarker("hyperkube")

__all__ = ["HOOK_API", "hookimpl", "hookspec"]
