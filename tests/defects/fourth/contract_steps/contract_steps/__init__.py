"""Steps in the making of a contract."""

from contract_steps.environment import load_environment

__all__ = ["load_environment"]
