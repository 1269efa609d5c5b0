from instalments.loans import Loans

__all__ = ["Loans"]
