"""How a plugin is written (`Plugin`), found and chosen (`load`), and listed (`catalog`)."""

from hyperkube.hookspecs.base import Plugin, PluginContext
from hyperkube.plugin.loader import PluginConflict, PluginHost, PluginLoadFailed, PluginNotFound, load

__all__ = ["Plugin", "PluginConflict", "PluginContext", "PluginHost", "PluginLoadFailed", "PluginNotFound", "load"]
