from delay_notices.taskset import NoticeTaskset

__all__ = ["NoticeTaskset"]
