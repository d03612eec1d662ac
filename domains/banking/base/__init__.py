"""The shared base bank: customers beside whom every scenario's own cast lives. It is the same in every process."""

from __future__ import annotations

from datetime import time
from typing import Any

from sqlmodel import Session

from domains.banking.base.activity import ledger_rows, payee_rows, payment_rows
from domains.banking.base.customers import account_rows, card_rows, customer_rows
from domains.banking.base.incidents import LINES, incident_rows
from domains.banking.base.keys import ROOT
from domains.banking.base.ledger import ZONE, all_lines, at
from domains.banking.base.profiles import LAST_DAY
from domains.banking.tables import TABLES
from domains.kit.cast import CastContext
from domains.kit.store import table_of


def base_rows() -> dict[str, list[dict[str, Any]]]:
    """Return the rows of the base bank by table, values of the columns' Python types."""
    context = CastContext(entries={}, kinds={}, now=at(LAST_DAY, time(18)), zone=ZONE, draw=ROOT)
    lines = all_lines(LINES)
    found: dict[str, list[dict[str, Any]]] = {}
    for rows in (
        customer_rows(context),
        account_rows(context, lines),
        card_rows(context),
        ledger_rows(lines),
        payee_rows(context, lines),
        payment_rows(lines),
        incident_rows(lines),
    ):
        for row in rows:
            found.setdefault(row.table, []).append(dict(row.values))
    return found


def fill(session: Session) -> None:
    """Write the base bank through a session."""
    rows = base_rows()
    connection = session.connection()
    for model in TABLES:
        table = table_of(model)
        if table.name in rows:
            connection.execute(table.insert(), rows[table.name])
