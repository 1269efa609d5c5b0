"""WHAT HAPPENED: `Trace`, its steps and model calls; readers of foreign traces."""

from envwright.trace.trace import (
    EGRESS,
    ModelCall,
    Problem,
    Role,
    Score,
    Step,
    Timing,
    ToolCall,
    Trace,
    Usage,
)

__all__ = [
    "EGRESS",
    "ModelCall",
    "Problem",
    "Role",
    "Score",
    "Step",
    "Timing",
    "ToolCall",
    "Trace",
    "Usage",
]
