"""ResourceClaims: requests for devices, and what was allocated to them."""
