"""hyperkube doctor: what this machine allows, and what that means for a cluster."""
