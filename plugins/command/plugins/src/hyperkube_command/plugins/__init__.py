"""hyperkube plugins: what is installed and why, and the kit of those who write plugins."""
