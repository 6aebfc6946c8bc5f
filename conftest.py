"""What all tests share: properties are judged by what they say, not by how long a busy machine takes to draw a case.

Hypothesis does the same by itself where ``CI`` is set, and then draws the same cases each time.
"""

import os

if "CI" not in os.environ:
    from hypothesis import HealthCheck, settings

    settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("busy")
