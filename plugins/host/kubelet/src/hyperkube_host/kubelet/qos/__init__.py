"""What a pod's quality of service means to the kernel."""
