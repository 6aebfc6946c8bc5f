"""The control plane in a test's process, and the pytest plugin that offers it as fixtures."""
