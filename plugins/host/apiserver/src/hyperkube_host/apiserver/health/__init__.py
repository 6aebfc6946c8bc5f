"""The checks behind ``/healthz``, ``/livez`` and ``/readyz``."""
