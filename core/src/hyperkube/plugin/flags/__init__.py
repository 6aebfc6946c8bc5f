"""What a flag is (`Flag`), how it is read (`Kind`), which ones plugins bring (`plugin_flags`), and `FlagValues`."""

from hyperkube.plugin.flags.files import PluginFlags, merged, plugin_flags, setting_of
from hyperkube.plugin.flags.flag import Flag, by_name, section, typed, unbuilt
from hyperkube.plugin.flags.gates import PluginGate, gates_in
from hyperkube.plugin.flags.kinds import (
    ADDRESS,
    ADDS_UP,
    BOOL,
    CIDRS,
    DURATION,
    FLOAT,
    GATES,
    INT,
    KINDS,
    LIST,
    MAP,
    PORT_RANGE,
    REPEATED,
    STRING,
    Kind,
)
from hyperkube.plugin.flags.values import FlagValues, given_names, read_value, unknown_flag

__all__ = [
    "ADDRESS",
    "ADDS_UP",
    "BOOL",
    "CIDRS",
    "DURATION",
    "FLOAT",
    "GATES",
    "INT",
    "KINDS",
    "LIST",
    "MAP",
    "PORT_RANGE",
    "REPEATED",
    "STRING",
    "Flag",
    "FlagValues",
    "Kind",
    "PluginFlags",
    "PluginGate",
    "by_name",
    "gates_in",
    "given_names",
    "merged",
    "plugin_flags",
    "read_value",
    "section",
    "setting_of",
    "typed",
    "unbuilt",
    "unknown_flag",
]
