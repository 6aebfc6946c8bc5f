"""What all tests share: properties are judged by what they say, not by how long a busy machine takes to draw a case."""

from hypothesis import HealthCheck, settings

settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")
