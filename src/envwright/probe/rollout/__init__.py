"""What rollouts show: rules over trials that were run once, and how long they took. Pure."""

from envwright.probe.rollout.latency import RULES as LATENCY_RULES
from envwright.probe.rollout.latency import Latency, latency_of, read_latency
from envwright.probe.rollout.quality import RULES as QUALITY_RULES
from envwright.probe.rollout.quality import read_quality
from envwright.probe.rollout.rollout import Rollout, Rollouts

RULES = (*QUALITY_RULES, *LATENCY_RULES)

__all__ = ["RULES", "Latency", "Rollout", "Rollouts", "latency_of", "read_latency", "read_quality"]
