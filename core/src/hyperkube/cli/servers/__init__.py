"""The five servers as commands: one file each, run as ``hyperkube WORD`` or under its Kubernetes name."""
