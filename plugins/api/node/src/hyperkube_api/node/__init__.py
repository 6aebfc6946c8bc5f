"""API group node: RuntimeClasses."""
