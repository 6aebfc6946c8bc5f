"""The four ways to change an object in part: JSON patch, merge patch, strategic merge patch and server-side apply."""
