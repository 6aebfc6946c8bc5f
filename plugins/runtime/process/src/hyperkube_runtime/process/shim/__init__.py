"""The watcher beside each container: stdlib only, imported by a bare interpreter, so that it stays at about 1 MB.

A `nursery` (one warm interpreter per kubelet) forks one `watcher` per container. The watcher is the container's
parent: it outlives the kubelet, writes the container's log, takes commands on a socket and, at the end, puts down the
exit code where the next kubelet finds it.
"""
