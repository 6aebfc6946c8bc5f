"""What is wrong with jobs and cron jobs."""
