"""One request: what its path and query say, what travels through the pipeline, what comes out."""
