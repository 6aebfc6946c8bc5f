"""API group apidiscovery: aggregated discovery."""
