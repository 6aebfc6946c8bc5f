"""An operator written with kopf, as users write them; the tests run it as a program of its own.

A Lamp's status and events say what happened to it.
"""

import kopf
from client_objects import GROUP

LAMPS = (GROUP, "v1", "lamps")


@kopf.on.startup()
def settings(settings, **_):
    """Report events, keep what kopf remembers in the status, and end promptly."""
    settings.posting.enabled = True
    settings.posting.loggers = False
    settings.persistence.finalizer = f"{GROUP}/switch-off"
    settings.persistence.progress_storage = kopf.StatusProgressStorage(name="lamps")
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=GROUP, key="last")
    settings.networking.error_backoffs = (0.1, 0.2)
    settings.batching.worker_idle_timeout = 0.2


@kopf.on.create(*LAMPS)
def switched_on(body, spec, patch, **_):
    """Note the colour and say so in an event."""
    kopf.info(body, reason="SwitchedOn", message=f"shines in {spec['colour']}")
    patch.status["phase"] = "On"
    return {"colour": spec["colour"]}


@kopf.on.create(*LAMPS, param="flaky")
def flickers(retry, **_):
    """Succeed at the second attempt only."""
    if retry == 0:
        raise kopf.TemporaryError("flickers", delay=0.1)
    return f"tries {retry + 1}"


@kopf.on.update(*LAMPS, field="spec.colour")
def recoloured(old, new, patch, **_):
    """Note the change of colour."""
    patch.status["history"] = f"{old} to {new}"


@kopf.on.delete(*LAMPS)
def switched_off(body, logger, **_):
    """Say good-bye before the object goes."""
    kopf.warn(body, reason="SwitchedOff", message="it is dark")


@kopf.timer(*LAMPS, interval=0.2, labels={"blinks": "yes"})
def blinks(status, patch, **_):
    """Count."""
    patch.status["blinks"] = status.get("blinks", 0) + 1


@kopf.on.event("v1", "configmaps", labels={"seen-by": "lamps"})
def observed(name, event, logger, **_):
    """Tell what happens to marked built-in objects."""
    logger.warning("observed %s %s", event["type"], name)
