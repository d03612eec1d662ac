"""A desk at which nothing is wrong: every test adds the one record, call or remark that its rule is about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel import Session, SQLModel

from domains.banking import tables as t
from domains.banking.planner import BankPlanner
from domains.banking.rules import ALL_RULE_IDS, bank_rules
from domains.banking.scorecard import Scorecard
from domains.banking.tools import bank_tools
from domains.banking.vocabularies import bank_vocabularies
from domains.kit.clock import shift
from domains.kit.domain import Call
from domains.kit.draw import Draw
from domains.kit.knowledge import NoKnowledge
from domains.kit.rules import TELL, CallRecord, Contact, Evidence, Finding, Guess, Outcome, Request, findings
from domains.kit.store import RowRef, StoreTemplate
from domains.kit.tools import Access, Actor
from domains.kit.world import CallOutcome, Controls, World

NOW = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)
TODAY = date(2026, 3, 12)
ZONE = ZoneInfo("America/New_York")
RULES = bank_rules()
HOME = "12 Elm Street, Springfield, IL 62704"


def ago(**units: float) -> datetime:
    """Return the moment that lies this much elapsed time before now."""
    return NOW - timedelta(**units)


def days_ago(days: int) -> datetime:
    """Return the moment that lies this many calendar days before now, at the same wall clock."""
    return shift(NOW, f"-P{days}D", ZONE)


def day(days: int) -> date:
    """Return the calendar day that lies this many days back."""
    return TODAY - timedelta(days=days)


def person(key: str, **changes: Any) -> t.Customer:
    """Return a person whose four identity factors nobody else has."""
    values: dict[str, Any] = {
        "id": key,
        "kind": "person",
        "name": f"Name of {key}",
        "date_of_birth": date(1984, 3, 7),
        "email": f"{key.lower()}@example.com",
        "phone": f"(415) 555-{sum(map(ord, key)):04}",
        "address": HOME if key == "CU-ANN" else f"{len(key)} Road of {key}",
        "tax_id": f"900-{sum(map(ord, key)):06}",
        "since": date(2015, 5, 1),
    }
    return t.Customer(**values | changes)


def account(key: str, owner: str, kind: str = "personal_checking", **changes: Any) -> t.Account:
    """Return an old account with plenty of money."""
    values: dict[str, Any] = {
        "id": key,
        "customer_id": owner,
        "kind": kind,
        "number": f"70{sum(map(ord, key)):08}",
        "balance_cents": 90_000_000,
        "opened_at": days_ago(2000),
    }
    return t.Account(**values | changes)


def paid(key: str, payee: str, source: str, amount_cents: int, when: datetime, **changes: Any) -> t.Payment:
    """Return a settled external payment."""
    values: dict[str, Any] = {
        "id": key,
        "from_account_id": source,
        "to_payee_id": payee,
        "rail": "external",
        "amount_cents": amount_cents,
        "status": "settled",
        "initiated_by": "CU-ANN",
        "created_at": when,
        "settled_at": when,
    }
    return t.Payment(**values | changes)


def entry(key: str, amount_cents: int, when: datetime, **changes: Any) -> t.LedgerEntry:
    """Return a settled ledger entry of Ann's account."""
    values: dict[str, Any] = {
        "id": key,
        "account_id": "AC-ANN",
        "posted_at": when,
        "amount_cents": amount_cents,
        "kind": "card",
        "counterparty": "Corner Shop",
        "statement_on": day(20),
    }
    return t.LedgerEntry(**values | changes)


def application(key: str = "AP-NEW", **changes: Any) -> t.Application:
    """Return a personal application in good order."""
    values: dict[str, Any] = {
        "id": key,
        "kind": "personal",
        "product": "personal_checking",
        "applicant_name": "Nora Quist",
        "date_of_birth": date(1990, 1, 2),
        "tax_id": "900-12-3456",
        "tax_id_kind": "ssn",
        "email": f"{key.lower()}@example.org",
        "phone": f"(212) 555-{sum(map(ord, key)):04}",
        "device": f"handset {key}",
        "address": "5 Lake View, Boston, MA 02110",
        "submitted_at": NOW,
    }
    return t.Application(**values | changes)


def check(kind: str, application_id: str = "AP-NEW", **changes: Any) -> t.ApplicationCheck:
    """Return a passed check of an application."""
    values: dict[str, Any] = {
        "id": f"CH-{kind}-{application_id}",
        "application_id": application_id,
        "kind": kind,
        "result": "passed",
        "detail": "residential" if kind == "address" else "",
        "valid_until": day(-400) if kind == "document" else None,
        "proof_dated": day(10) if kind == "address" else None,
        "at": NOW,
    }
    return t.ApplicationCheck(**values | changes)


def checks(application_id: str = "AP-NEW", *but: str) -> list[t.ApplicationCheck]:
    """Return every check that a personal application needs, some left out."""
    return [check(kind, application_id) for kind in ("document", "tax_id", "address") if kind not in but]


def approval(payment: str, approver: str = "CU-EVE", when: datetime = NOW) -> t.Approval:
    """Return an approval of a payment."""
    return t.Approval(id=f"AV-{approver}", payment_id=payment, approver_id=approver, approved_at=when)


def due(amount_cents: int, **changes: Any) -> t.Payment:
    """Return the firm's payment that waits for approval."""
    values: dict[str, Any] = {
        "id": "PM-DUE",
        "from_account_id": "AC-FIRM",
        "to_payee_id": "PY-FIRM",
        "rail": "external",
        "amount_cents": amount_cents,
        "purpose": "invoice",
        "status": "awaiting_approval",
        "initiated_by": "CU-BOB",
        "created_at": ago(hours=2),
    }
    return t.Payment(**values | changes)


def _base() -> list[Any]:
    return [
        person("CU-ANN"),
        person("CU-BOB"),
        person("CU-EVE"),
        t.Customer(
            id="CU-FIRM",
            kind="business",
            name="Northway Joinery LLC",
            email="office@northway.example",
            phone="(617) 555-0110",
            address="8 Mill Lane, Boston, MA 02110",
            tax_id="12-3456789",
            since=date(2019, 5, 1),
        ),
        t.Device(id="DV-ANN", customer_id="CU-ANN", name="Pixel 9", enrolled_at=days_ago(400)),
        t.Device(id="DV-BOB", customer_id="CU-BOB", name="Galaxy", enrolled_at=days_ago(300)),
        t.AddressHistory(id="AH-ANN", customer_id="CU-ANN", address=HOME, since=date(2015, 5, 1)),
        t.RecoveryCode(id="RC-ANN", customer_id="CU-ANN", code="KX7P-29QM", issued_at=days_ago(1)),
        t.BusinessRole(
            id="BR-BOB", business_id="CU-FIRM", person_id="CU-BOB", role="bookkeeper", recorded_at=days_ago(200)
        ),
        t.BusinessRole(
            id="BR-EVE", business_id="CU-FIRM", person_id="CU-EVE", role="approver", recorded_at=days_ago(200)
        ),
        account("AC-ANN", "CU-ANN"),
        account("AC-SAVE", "CU-ANN", "savings"),
        account("AC-BOB", "CU-BOB"),
        account("AC-FIRM", "CU-FIRM", "business_checking"),
        t.Card(
            id="CD-ANN",
            account_id="AC-ANN",
            customer_id="CU-ANN",
            kind="debit",
            number="4000111122223333",
            cvv="731",
            pin="8264",
            limit_cents=200_000,
            expires_on=date(2028, 6, 30),
        ),
        t.Card(
            id="CD-ICE",
            account_id="AC-ANN",
            customer_id="CU-ANN",
            kind="debit",
            number="4000111122224444",
            cvv="732",
            pin="8265",
            limit_cents=200_000,
            status="frozen",
            expires_on=date(2028, 6, 30),
        ),
        t.Card(
            id="CD-NEW",
            account_id="AC-ANN",
            customer_id="CU-ANN",
            kind="debit",
            number="4000111122225555",
            cvv="733",
            pin="8266",
            limit_cents=200_000,
            status="issued",
            expires_on=date(2028, 6, 30),
        ),
        t.CardControl(id="CC-ICE", card_id="CD-ICE", kind="freeze", placed_by="customer", placed_at=days_ago(1)),
        t.Payee(id="PY-OLD", customer_id="CU-ANN", name="Landlord", bank_account="X1", created_at=days_ago(900)),
        t.Payee(id="PY-FIRM", customer_id="CU-FIRM", name="Supplier", bank_account="X2", created_at=days_ago(900)),
        paid("PM-OLD", "PY-OLD", "AC-ANN", 90_000, days_ago(500)),
        paid("PM-SUPPLY", "PY-FIRM", "AC-FIRM", 90_000, days_ago(500)),
        entry("LE-SHOP", -4_200, days_ago(30)),
        entry("LE-FEE", -1_500, days_ago(31), kind="fee", counterparty="Harbourline Bank", memo="monthly fee"),
    ]


def _fill(session: Session) -> None:
    for row in _base():
        session.add(row)
        session.flush()


@cache
def template() -> StoreTemplate:
    """Return the prepared store of the desk."""
    return StoreTemplate(t.TABLES, _fill)


class Desk:
    """One contact at the desk, built call by call and remark by remark.

    Parameters
    ----------
    rows
        What is on record beside the clean base, or instead of a base row with the same key.
    controls
        What the caller holds.
    """

    def __init__(self, *rows: SQLModel, controls: Controls | None = None) -> None:
        tools = bank_tools()
        self.world = World(
            tools=tools,
            store=template().open(),
            now=NOW,
            zone=ZONE,
            knowledge=NoKnowledge(),
            controls=controls or Controls(),
            draw=Draw(("desk",)),
            vocabularies={
                "decision": frozenset(Outcome),
                "rule_id": ALL_RULE_IDS,
                "reason_code": bank_vocabularies().reason_codes | {"none"},
            },
            resources={"detector": Scorecard()},
            unlocked={tool.name for tool in tools.values() if tool.access is Access.DISCOVERABLE},
            granted={tool.name for tool in tools.values() if tool.access is Access.DISCOVERABLE},
        )
        self.contact = Contact(turn=1)
        self.put(*rows)

    def put(self, *rows: SQLModel) -> Desk:
        """Put rows on record as though they had always been there."""
        for row in rows:
            self.world.session.merge(row)
            self.world.session.flush()
        self.world.store.commit()
        self.world.store.take_changes()
        return self

    # ------------------------------------------------------------------------------ what happens

    def asks(self, *requests: Request, evidence: tuple[str, ...] = (), row: RowRef | None = None) -> Desk:
        """Add to the present turn what the caller wants and reveals."""
        turn = self.contact.turn
        self.contact = replace(
            self.contact,
            requests=self.contact.requests + tuple((turn, request) for request in requests),
            evidence=self.contact.evidence + tuple(Evidence(name, turn, row) for name in evidence),
        )
        return self

    def next_turn(self) -> Desk:
        """Let the caller speak again."""
        self.contact = replace(self.contact, turn=self.contact.turn + 1)
        return self

    def call(self, tool: str, /, **arguments: Any) -> CallOutcome:
        """Make a call as the participant whose tool it is."""
        found = self.world.tools[tool]
        if found.actor is Actor.AGENT and found.access is Access.DISCOVERABLE:
            outcome = self.world.call(Actor.AGENT, "call_unlocked_tool", {"tool": tool, "arguments": arguments})
        else:
            outcome = self.world.call(found.actor, tool, arguments)
        record = CallRecord(self.contact.turn, found.actor, tool, arguments, outcome.ok, outcome.changes)
        self.contact = replace(
            self.contact,
            calls=(*self.contact.calls, record),
            shown=self.contact.shown | (frozenset(outcome.shown) if found.actor is Actor.AGENT else frozenset()),
        )
        return outcome

    def do(self, calls: Any) -> None:
        """Make planned calls, every one of which must succeed."""
        for call in calls:
            assert isinstance(call, Call)
            outcome = self.call(call.tool, **call.arguments)
            assert outcome.ok, (call, outcome.result)

    def told(self, row: RowRef, column: str) -> Desk:
        """Note that the caller has heard a stored value."""
        self.contact = replace(self.contact, told=self.contact.told | {(row, column)})
        return self

    def identify(self, key: str = "CU-ANN", *factors: str) -> Desk:
        """Log matching factors of a person, two if none are named."""
        customer = self.world.find(t.Customer, key)
        given = {factor: str(getattr(customer, factor)) for factor in factors or ("email", "phone")}
        for factor, value in given.items():
            self.guess(key, factor, value)
        return self

    def miss(self, factor: str = "email", key: str = "CU-ANN") -> Desk:
        """Log a factor that does not match."""
        wrong = {"email": "no@example.net", "phone": "(999) 555-9999", "address": "Nowhere"}
        return self.guess(key, factor, wrong[factor])

    def guess(self, key: str, factor: str, value: str) -> Desk:
        """Let the caller give an identity factor, and log it."""
        guess = (self.contact.turn, Guess("customers", key, factor, value))
        self.contact = replace(self.contact, guesses=(*self.contact.guesses, guess))
        assert self.call("log_verification", customer_id=key, factor=factor, value=value).ok
        return self

    def stepped_up(self, key: str = "CU-ANN", when: datetime = NOW) -> Desk:
        """Put an approved push on record."""
        device = f"DV-{key[-3:]}"
        return self.put(
            t.StepUp(
                id=f"SU-{device}",
                customer_id=key,
                method="push",
                target=device,
                status="approved",
                created_at=when,
                approved_at=when,
            )
        )

    def decide(self, finding: Finding) -> Desk:
        """Record a decision as the agent does."""
        outcome = self.call(
            "record_decision",
            decision=str(finding.outcome),
            rule_id=finding.rule_id,
            reason_code=finding.reason_code,
            evidence_ids=[row.key for row in finding.rests_on],
        )
        assert outcome.ok, outcome.result
        return self

    # ------------------------------------------------------------------------------ what follows

    def plan(self, request: Request) -> Desk:
        """Make the look-ups that a request needs."""
        self.do(BankPlanner().plan(request, self.world))
        return self

    def findings(self, request: Request, contact: Contact | None = None) -> dict[str, Finding]:
        """Return what every rule finds, by rule id, the strictest first."""
        found = findings(RULES.values(), request, self.world, contact or self.contact)
        return {finding.rule_id: finding for finding in found}

    def myopic(self, request: Request) -> dict[str, Finding]:
        """Return what the rules without history find in the present turn alone."""
        rules = [rule for rule in RULES.values() if not rule.history]
        found = findings(rules, request, self.world, self.contact.latest_turn_only())
        return {finding.rule_id: finding for finding in found}


def ready(*rows: SQLModel, key: str = "CU-ANN") -> Desk:
    """Return a desk at which a person is identified and has approved a push."""
    return Desk(*rows).identify(key).stepped_up(key)


# ------------------------------------------------------------------------------------ requests


def tell(table: str, key: str, column: str) -> Request:
    """Return the wish to hear a stored value."""
    return Request(TELL, {"table": table, "key": key, "column": column})


def pay(amount_cents: int = 50_000, payee: str = "PY-OLD", source: str = "AC-ANN", purpose: str = "rent") -> Request:
    """Return the wish to pay somebody outside the bank."""
    return Request(
        "send_payment",
        {"from_account_id": source, "payee_id": payee, "amount_cents": amount_cents, "purpose": purpose},
    )


def move(amount_cents: int = 50_000, target: str = "AC-SAVE", source: str = "AC-ANN") -> Request:
    """Return the wish to transfer money inside the bank."""
    return Request("transfer", {"from_account_id": source, "to_account_id": target, "amount_cents": amount_cents})


def contact_change(field: str = "email", value: str = "new@example.com", key: str = "CU-ANN") -> Request:
    """Return the wish to change contact data."""
    return Request("change_contact", {"customer_id": key, "field": field, "value": value})


def raise_limit(limit_cents: int = 250_000) -> Request:
    """Return the wish for a higher card limit."""
    return Request("set_temporary_limit", {"card_id": "CD-ANN", "limit_cents": limit_cents})


def replace_card(address: str = HOME, delivery: str = "mail") -> Request:
    """Return the wish for a replacement card."""
    return Request("order_replacement_card", {"card_id": "CD-ANN", "delivery": delivery, "address": address})


def new_pin(pin: str = "5927") -> Request:
    """Return the wish for another PIN."""
    return Request("set_pin", {"card_id": "CD-ANN", "pin": pin})


def statement(account_id: str = "AC-ANN", month: str = "2026-02", for_whom: str = "CU-ANN") -> Request:
    """Return the wish for a statement."""
    return Request(
        "send_statement",
        {"account_id": account_id, "month": month, "sent_to": "cu-ann@example.com", "requested_by": for_whom},
    )


def new_payee(key: str = "CU-ANN") -> Request:
    """Return the wish to add a payee."""
    return Request("register_payee", {"customer_id": key, "name": "Somebody", "bank_account": "Y9"})


def dispute(kind: str = "service", ledger_id: str = "LE-SHOP") -> Request:
    """Return the wish to dispute an entry."""
    return Request("file_dispute", {"ledger_id": ledger_id, "kind": kind})


def credit(amount_cents: int = 1_000, kind: str = "goodwill", basis_id: str = "") -> Request:
    """Return the wish for a credit."""
    return Request(
        "issue_credit", {"account_id": "AC-ANN", "kind": kind, "amount_cents": amount_cents, "basis_id": basis_id}
    )


def correction(amount_cents: int = 1_500, basis_id: str = "LE-FEE") -> Request:
    """Return the wish for a correction of the balance."""
    return Request("correct_balance", {"account_id": "AC-ANN", "amount_cents": amount_cents, "basis_id": basis_id})


def on_card(tool: str, card: str = "CD-ANN", **arguments: Any) -> Request:
    """Return the wish for something done with a card."""
    return Request(tool, {"card_id": card, **arguments})


def release(payment: str = "PM-DUE") -> Request:
    """Return the wish to let a payment go."""
    return Request("release_payment", {"payment_id": payment})


def close(account_id: str = "AC-ANN", payout: str = "AC-SAVE") -> Request:
    """Return the wish to close an account."""
    return Request("close_account", {"account_id": account_id, "payout_account_id": payout})


def open_it(application_id: str = "AP-NEW") -> Request:
    """Return the wish to open the account applied for."""
    return Request("open_account", {"application_id": application_id})


def recover(code: str = "KX7P-29QM") -> Request:
    """Return the wish to use a recovery code."""
    return Request("redeem_recovery_code", {"customer_id": "CU-ANN", "code": code})
