"""The console: pages that show a cluster in a web browser, for the addon of `hyperkube up` and `hyperkube console`."""
