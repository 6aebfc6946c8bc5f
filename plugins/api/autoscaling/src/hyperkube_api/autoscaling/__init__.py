"""API group autoscaling: HorizontalPodAutoscalers and Scale."""
