from meeting_slots.taskset import MeetingTaskset

__all__ = ["MeetingTaskset"]
