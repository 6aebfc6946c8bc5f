"""Resource quotas."""
