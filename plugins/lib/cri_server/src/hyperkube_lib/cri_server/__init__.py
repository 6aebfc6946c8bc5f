"""A server of CRI v1 in front of any runtime of the kubelet's.

What `hyperkube.hookspecs.runtime` asks of a runtime is CRI in Python: here it is CRI on a socket, so that any of its
clients (crictl, another kubelet) drives the runtime. exec, attach and port-forward go to a server of streams on the
loopback device, by URLs that can be used once.
"""

from hyperkube_lib.cri_server.server import CriServer

__all__ = ["CriServer"]
