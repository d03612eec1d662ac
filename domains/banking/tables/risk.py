"""Alerts, cases and flags that the bank raises itself."""

from __future__ import annotations

from datetime import datetime

from domains.banking.tables.base import BankRow, key, moment, ref


class FraudAlert(BankRow, table=True):
    """An alert of the bank's monitoring on a customer or one of their accounts."""

    __tablename__ = "fraud_alerts"

    id: str = key()
    customer_id: str = ref("customers.id")
    account_id: str | None = ref("accounts.id", optional=True)
    kind: str
    status: str = "open"
    """open or closed."""
    created_at: datetime = moment()


class FraudCase(BankRow, table=True):
    """A case opened for investigation."""

    __tablename__ = "fraud_cases"

    id: str = key()
    customer_id: str = ref("customers.id")
    kind: str
    """fraud, laundering or identity."""
    reason_code: str
    summary: str
    status: str = "open"
    opened_at: datetime = moment()


class RecordFlag(BankRow, table=True):
    """A record whose content is not to be trusted."""

    __tablename__ = "record_flags"

    id: str = key()
    record_id: str
    reason_code: str
    at: datetime = moment()
