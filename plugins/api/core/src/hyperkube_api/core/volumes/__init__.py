"""Volume sources, those of pods and those of persistent volumes."""
