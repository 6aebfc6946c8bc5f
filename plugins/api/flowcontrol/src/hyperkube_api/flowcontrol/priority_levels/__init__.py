"""PriorityLevelConfigurations: how much of the server a level may use, and how it queues."""
