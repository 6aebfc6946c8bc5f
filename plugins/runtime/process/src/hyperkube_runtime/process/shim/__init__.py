"""The shim beside each container: stdlib only, imported by a bare interpreter, so that it stays at about 1 MB.

The fork server (one interpreter per kubelet) forks one shim per container. The shim is the container's parent: it
outlives the kubelet, writes the container's log, takes commands on a socket and records the exit code where the next
kubelet finds it. Containerd's shims have the same task.
"""
