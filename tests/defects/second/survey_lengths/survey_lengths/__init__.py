from survey_lengths.taskset import SurveyTaskset

__all__ = ["SurveyTaskset"]
