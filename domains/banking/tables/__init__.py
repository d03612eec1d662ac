"""The bank's tables, by subject. Money is integer cents, moments are UTC, foreign keys point backwards."""

from __future__ import annotations

from typing import Final

from sqlmodel import SQLModel

from domains.banking.tables.accounts import Account, AccountHolder, Closure, LedgerEntry, Licence, Note, StatementOrder
from domains.banking.tables.cards import ActivationAttempt, Card, CardControl, CardOrder, LimitChange
from domains.banking.tables.disputes import (
    Cancellation,
    Credit,
    Dispute,
    MachineJournal,
    RefundPromise,
    ServiceUsage,
)
from domains.banking.tables.onboarding import Application, ApplicationCheck, ApplicationCorrection
from domains.banking.tables.payments import (
    Approval,
    Hold,
    Payee,
    PayeeCheck,
    Payment,
    RecallRequest,
    ScamQuestionnaire,
)
from domains.banking.tables.people import (
    AddressHistory,
    AuthorityRecord,
    BusinessRole,
    ChannelEvent,
    Customer,
    Device,
    RecoveryAttempt,
    RecoveryCode,
    StepUp,
    SupervisorApproval,
    Verification,
)
from domains.banking.tables.risk import FraudAlert, FraudCase, RecordFlag
from domains.kit.desk import DESK_TABLES

TABLES: Final[tuple[type[SQLModel], ...]] = (
    *DESK_TABLES,
    Customer,
    Device,
    ChannelEvent,
    AddressHistory,
    Verification,
    StepUp,
    RecoveryCode,
    RecoveryAttempt,
    AuthorityRecord,
    BusinessRole,
    SupervisorApproval,
    Account,
    AccountHolder,
    Licence,
    Closure,
    Card,
    CardControl,
    ActivationAttempt,
    LimitChange,
    CardOrder,
    LedgerEntry,
    Note,
    StatementOrder,
    Payee,
    PayeeCheck,
    Payment,
    Approval,
    Hold,
    RecallRequest,
    ScamQuestionnaire,
    Dispute,
    Credit,
    Cancellation,
    ServiceUsage,
    RefundPromise,
    MachineJournal,
    Application,
    ApplicationCheck,
    ApplicationCorrection,
    FraudAlert,
    FraudCase,
    RecordFlag,
)
"""Every table, in an order in which foreign keys point backwards."""
