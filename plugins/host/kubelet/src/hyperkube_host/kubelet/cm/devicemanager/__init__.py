"""The device manager: devices that plugins offer, given to containers."""
