"""API group flowcontrol: FlowSchemas and PriorityLevelConfigurations."""
