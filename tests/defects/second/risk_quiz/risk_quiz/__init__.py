from risk_quiz.taskset import RiskQuiz

__all__ = ["RiskQuiz"]
