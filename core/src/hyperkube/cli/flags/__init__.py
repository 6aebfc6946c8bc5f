"""The options of the five servers, as tables: one module per server, one row per flag."""

from hyperkube.cli.flags.flag import Flag, section

__all__ = ["Flag", "section"]
