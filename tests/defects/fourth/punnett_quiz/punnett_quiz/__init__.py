"""Mendelian crosses, marked like an examination with negative marking."""

from punnett_quiz.exam import PunnettQuiz

__all__ = ["PunnettQuiz"]
