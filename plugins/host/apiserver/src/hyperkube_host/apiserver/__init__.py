"""The API server: request pipeline, registry of resources, discovery, tables, and the in-process transport."""
