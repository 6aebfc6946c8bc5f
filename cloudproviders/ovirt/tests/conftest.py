"""oVirt as a double plays it, and the provider that talks to it."""

from __future__ import annotations

from hyperkube_testing.beside import module_beside
from hyperkube_testing.provider_fixtures import provider_fixtures

engine = module_beside(__file__, "engine")
double, built, cloud = provider_fixtures(engine, engine.Engine)
