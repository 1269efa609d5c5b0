from spanish_tenses.environment import load_environment

__all__ = ["load_environment"]
