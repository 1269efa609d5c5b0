"""WHAT HAPPENED: `Trace`, its steps and model calls; readers of foreign traces."""

from envwright.trace.trace import (
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
