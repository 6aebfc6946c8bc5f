"""What webhooks and policies share: who is matched, what expressions see, how parameters are found."""
