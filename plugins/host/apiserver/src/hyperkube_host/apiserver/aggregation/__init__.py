"""Group versions that other servers serve behind this one: who they are, whether they answer, and the way there."""
