"""API group apiregistration: APIServices."""
