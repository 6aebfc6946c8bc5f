"""CronJobs: Jobs that are made at the times of a schedule."""
