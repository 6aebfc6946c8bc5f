"""The contracts of what makes a node: runtimes, pod networks, kinds of volumes and proxiers."""
