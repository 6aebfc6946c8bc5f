"""One profile's plugins, and filtering and scoring with them; upstream's ``pkg/scheduler/framework``."""
