"""Where a plugin failed that could not be imported or built: the file and line that its author wants to open."""

from __future__ import annotations

import traceback


def place_of(error: BaseException, module: str) -> str:
    """Return `` (FILE:LINE)``: the innermost line of the plugin's own code that an exception passed through.

    Args:
        error: what was raised while the plugin was imported or built.
        module: the module that its entry point names.

    Returns:
        the empty string if none of its code ran: the module is not there.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}:{error.lineno})"
    parts = module.split(".")
    own = ".".join(parts[: 2 if parts[0].startswith("hyperkube_") else 1])  # families are namespaces of many plugins
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = frame.f_globals.get("__name__", "")
        if name == own or name.startswith(f"{own}."):
            place = f" ({frame.f_code.co_filename}:{line})"
    return place
