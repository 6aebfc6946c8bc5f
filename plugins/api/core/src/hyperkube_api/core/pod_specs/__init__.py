"""PodSpec and PodTemplateSpec: what pods and all templates of pods have in common."""
