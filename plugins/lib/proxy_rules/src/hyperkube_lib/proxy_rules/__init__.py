"""What the proxiers that write rules into the kernel have in common, and the proxy with them."""
