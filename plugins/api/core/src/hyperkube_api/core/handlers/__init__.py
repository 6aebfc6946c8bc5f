"""What happens on the paths below core objects: binding, eviction, tokens; and component statuses."""
