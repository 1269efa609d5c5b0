from agreement_clinic.taskset import AgreementTaskset

__all__ = ["AgreementTaskset"]
