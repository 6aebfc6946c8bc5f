"""How a plugin of a node introduces itself: at a socket in the folder ``plugins_registry`` of the kubelet.

Importing this imports no gRPC. Source: kubernetes ``staging/src/k8s.io/kubelet/pkg/apis/pluginregistration``.
"""

from hyperkube_lib.plugin_registration.registration import (
    PluginInfo,
    ask_plugin,
    registration_schema,
    serve_registration,
)

__all__ = ["PluginInfo", "ask_plugin", "registration_schema", "serve_registration"]
