from trial_balances.taskset import BalanceTaskset

__all__ = ["BalanceTaskset"]
