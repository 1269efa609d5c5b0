"""Table bookings: a model plays the guest, the agent takes the booking, code checks it."""

from user_sim.environment import BookingEnv
from user_sim.taskset import BookingTaskset

__all__ = ["BookingEnv", "BookingTaskset"]
