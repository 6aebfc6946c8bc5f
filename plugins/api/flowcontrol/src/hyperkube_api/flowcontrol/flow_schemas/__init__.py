"""FlowSchemas: which requests belong to which priority level."""
