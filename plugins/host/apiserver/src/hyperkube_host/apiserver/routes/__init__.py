"""What the server answers that is no resource: discovery, OpenAPI, health, metrics, logs, profiles."""
