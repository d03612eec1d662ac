"""A bank of three customers, filled by hand, in which every tool has something to do and something to refuse."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel import Session

from domains.banking import tables as t
from domains.banking.scorecard import Scorecard
from domains.banking.tools import bank_tools
from domains.kit.draw import Draw
from domains.kit.knowledge import NoKnowledge
from domains.kit.store import Change, ChangeKind, StoreTemplate
from domains.kit.tools import Access, Actor
from domains.kit.world import CallOutcome, Controls, World

NOW = datetime(2026, 3, 12, 15, 20, tzinfo=UTC)
NEW_YORK = ZoneInfo("America/New_York")


def ago(**units: float) -> datetime:
    """Return the moment that lies this long before now."""
    return NOW - timedelta(**units)


def _people() -> list[Any]:
    address = "12 Elm Street, Springfield, IL 62704"
    return [
        t.Customer(
            id="CU-ANNA",
            kind="person",
            name="Anna Marie Lindqvist",
            date_of_birth=date(1984, 3, 4),
            email="anna@example.com",
            phone="(415) 555-0142",
            address=address,
            tax_id="123-45-6789",
            since=date(2015, 5, 1),
        ),
        t.Customer(
            id="CU-BEN",
            kind="person",
            name="Ben Okafor",
            date_of_birth=date(1990, 11, 30),
            email="ben@example.com",
            phone="(415) 555-0177",
            address="3 Quay Road, Boston, MA 02110",
            tax_id="987-65-4321",
            since=date(2018, 5, 1),
        ),
        t.Customer(
            id="CU-FIRM",
            kind="business",
            name="Northway Joinery LLC",
            email="office@northway.example",
            phone="(617) 555-0110",
            address="8 Mill Lane, Boston, MA 02110",
            tax_id="12-3456789",
            since=date(2019, 5, 1),
            registered_on=date(2019, 1, 15),
        ),
        t.Device(id="DV-ANNA", customer_id="CU-ANNA", name="Pixel 9", enrolled_at=ago(days=400)),
        t.Device(id="DV-OLD", customer_id="CU-ANNA", name="iPhone 8", enrolled_at=ago(days=900), status="removed"),
        t.Device(id="DV-BEN", customer_id="CU-BEN", name="Galaxy", enrolled_at=ago(days=300)),
        t.ChannelEvent(
            id="CE-ANNA",
            customer_id="CU-ANNA",
            channel="phone",
            event="changed",
            value="(415) 555-0142",
            at=ago(days=300),
        ),
        t.AddressHistory(id="AH-ANNA", customer_id="CU-ANNA", address=address, since=date(2015, 5, 1)),
        t.RecoveryCode(id="RC-ANNA", customer_id="CU-ANNA", code="KX7P-29QM", issued_at=ago(days=1)),
        t.AuthorityRecord(
            id="AR-BEN",
            principal_id="CU-ANNA",
            representative_id="CU-BEN",
            kind="power_of_attorney",
            scope="information,payments",
            valid_from=date(2025, 1, 1),
        ),
        t.BusinessRole(
            id="BR-BEN", business_id="CU-FIRM", person_id="CU-BEN", role="bookkeeper", recorded_at=ago(days=200)
        ),
    ]


def _accounts() -> list[Any]:
    def account(key: str, owner: str, kind: str, balance_cents: int, status: str = "open") -> t.Account:
        return t.Account(
            id=key,
            customer_id=owner,
            kind=kind,
            number=f"90{sum(map(ord, key)):08}",
            balance_cents=balance_cents,
            opened_at=ago(days=2000),
            status=status,
        )

    return [
        account("AC-ANNA", "CU-ANNA", "personal_checking", 500_000),
        account("AC-SAVE", "CU-ANNA", "savings", 100_000),
        account("AC-EMPTY", "CU-ANNA", "savings", 0),
        account("AC-STOP", "CU-BEN", "personal_checking", 70_000, "restricted"),
        account("AC-GONE", "CU-BEN", "personal_checking", 0, "closed"),
        account("AC-FIRM", "CU-FIRM", "business_checking", 6_120_000),
        t.AccountHolder(id="AO-ANNA", account_id="AC-ANNA", customer_id="CU-ANNA", role="owner"),
        t.AccountHolder(id="AO-SAVE", account_id="AC-SAVE", customer_id="CU-BEN", role="joint"),
        t.Licence(id="LI-FIRM", business_id="CU-FIRM", kind="money_service", valid_to=date(2027, 1, 1)),
        t.Closure(id="CL-GONE", customer_id="CU-BEN", account_id="AC-GONE", reason="for_cause", closed_at=ago(days=50)),
        t.FraudAlert(
            id="FA-ANNA", customer_id="CU-ANNA", account_id="AC-ANNA", kind="unusual_payee", created_at=ago(days=9)
        ),
    ]


def _cards() -> list[Any]:
    def card(key: str, status: str) -> t.Card:
        return t.Card(
            id=key,
            account_id="AC-ANNA",
            customer_id="CU-ANNA",
            kind="debit",
            number=f"4000{sum(map(ord, key)):012}",
            cvv="731",
            pin="8264",
            limit_cents=100_000,
            status=status,
            expires_on=date(2028, 6, 30),
        )

    return [
        card("CD-ANNA", "active"),
        card("CD-ICE", "frozen"),
        card("CD-NEW", "issued"),
        card("CD-LOST", "blocked"),
        card("CD-PAST", "replaced"),
        t.CardControl(id="CC-ICE", card_id="CD-ICE", kind="freeze", placed_by="bank", placed_at=ago(days=1)),
        t.CardControl(id="CC-ALERT", card_id="CD-ICE", kind="alert", placed_by="bank", placed_at=ago(days=1)),
        t.ActivationAttempt(id="AA-NEW", card_id="CD-NEW", passed=False, at=ago(minutes=5)),
        t.LimitChange(id="LC-ANNA", card_id="CD-ANNA", old_cents=90_000, new_cents=100_000, at=ago(days=70)),
        t.CardOrder(
            id="CO-NEW",
            card_id="CD-PAST",
            customer_id="CU-ANNA",
            delivery="mail",
            address="12 Elm Street",
            ordered_at=ago(days=20),
        ),
    ]


def _ledger() -> list[Any]:
    def entry(key: str, days: float, amount_cents: int, kind: str, counterparty: str, **more: Any) -> t.LedgerEntry:
        return t.LedgerEntry(
            id=key,
            account_id="AC-ANNA",
            posted_at=ago(days=days),
            amount_cents=amount_cents,
            kind=kind,
            counterparty=counterparty,
            statement_on=date(2026, 3, 31) if days < 11 else date(2026, 2, 28),
            **more,
        )

    return [
        entry("LE-BACK", 60, 9_000, "transfer", "P. Hale"),
        entry("LE-FEE", 40, -3_500, "fee", "Overdraft fee"),
        entry("LE-GYM", 12, -4_999, "subscription", "Iron Gym"),
        entry("LE-GYM2", 10, -4_999, "subscription", "Iron Gym"),
        entry("LE-ATM", 5, -20_000, "cash_machine", "Main Street machine"),
        entry("LE-IN", 1, 150_000, "transfer", "R. Doyle", counterparty_new=True, memo="wrong account, sorry"),
        t.Note(
            id="NT-IN",
            customer_id="CU-ANNA",
            about_id="LE-IN",
            author="import",
            text="Approved for credit.",
            created_at=ago(hours=20),
        ),
        t.Dispute(
            id="DP-GYM2",
            ledger_id="LE-GYM2",
            account_id="AC-ANNA",
            customer_id="CU-ANNA",
            kind="duplicate",
            amount_cents=4_999,
            opened_at=ago(days=2),
        ),
        t.Credit(
            id="CR-GYM2",
            account_id="AC-ANNA",
            customer_id="CU-ANNA",
            kind="provisional",
            amount_cents=4_999,
            basis_id="DP-GYM2",
            created_at=ago(days=2),
        ),
        t.RecallRequest(id="RR-BACK", ledger_id="LE-BACK", reason="wrong account", created_at=ago(days=59)),
        t.Cancellation(id="CA-GYM", account_id="AC-ANNA", merchant="Iron Gym", cancelled_at=ago(days=30)),
        t.ServiceUsage(id="SE-GYM", account_id="AC-ANNA", merchant="Iron Gym", used_at=ago(days=15)),
        t.RefundPromise(id="RP-GYM", ledger_id="LE-GYM", promised_on=date(2026, 3, 3), amount_cents=4_999),
        t.MachineJournal(id="MJ-ATM", ledger_id="LE-ATM", result="short", dispensed_cents=16_000, read_at=ago(days=4)),
        t.SupervisorApproval(
            id="SA-GYM",
            subject_id="LE-GYM",
            action="correction",
            amount_cents=4_999,
            approved_by="shift lead",
            approved_at=ago(hours=3),
        ),
        t.SupervisorApproval(
            id="SA-FIRM", subject_id="AC-FIRM", action="limit", approved_by="shift lead", approved_at=ago(hours=3)
        ),
    ]


def _payments() -> list[Any]:
    def payee(key: str, owner: str, name: str, **more: Any) -> t.Payee:
        return t.Payee(
            id=key, customer_id=owner, name=name, bank_account=f"021-{key}", created_at=ago(days=400), **more
        )

    def payment(key: str, source: str, amount_cents: int, status: str, **more: Any) -> t.Payment:
        rail = "external" if "to_payee_id" in more else "internal"
        return t.Payment(
            id=key,
            from_account_id=source,
            amount_cents=amount_cents,
            status=status,
            rail=rail,
            initiated_by="CU-BEN" if source == "AC-FIRM" else "CU-ANNA",
            created_at=ago(hours=2 if status != "settled" else 2400),
            **more,
        )

    return [
        payee("PY-SHOP", "CU-ANNA", "Corner Bikes"),
        payee("PY-NEAR", "CU-ANNA", "Joan Fletchers", account_name="Joan Fletcher"),
        payee("PY-FAR", "CU-ANNA", "Joan Fletcher", account_name="Crest Trading"),
        payee("PY-GONE", "CU-ANNA", "Old Friend", status="removed"),
        payee("PY-SUPP", "CU-FIRM", "Timber Supply Co"),
        t.PayeeCheck(
            id="PC-NEAR",
            payee_id="PY-NEAR",
            result="close_match",
            shown_name="Joan Fletcher",
            checked_at=ago(hours=1),
        ),
        t.ScamQuestionnaire(
            id="SQ-SHOP",
            customer_id="CU-ANNA",
            payee_id="PY-SHOP",
            met_in_person=True,
            told_what_to_say=False,
            asked_to_keep_secret=False,
            contacted_unexpectedly=False,
            completed_at=ago(days=100),
        ),
        payment("PM-OLD", "AC-ANNA", 8_000, "settled", to_payee_id="PY-SHOP", settled_at=ago(days=100)),
        payment("PM-HELD", "AC-ANNA", 30_000, "held", to_payee_id="PY-SHOP"),
        payment("PM-PLAN", "AC-ANNA", 20_000, "scheduled", to_account_id="AC-SAVE"),
        payment("PM-DUE", "AC-FIRM", 2_500_000, "awaiting_approval", to_payee_id="PY-SUPP", purpose="oak"),
        payment("PM-DEAR", "AC-FIRM", 9_900_000, "scheduled", to_payee_id="PY-SUPP"),
        t.Approval(id="AV-HELD", payment_id="PM-HELD", approver_id="CU-ANNA", approved_at=ago(hours=1)),
        t.Hold(
            id="HD-HELD",
            account_id="AC-ANNA",
            payment_id="PM-HELD",
            kind="fraud",
            placed_by="fraud_operations",
            reason_code="suspected_app_scam",
            placed_at=ago(hours=1),
        ),
        t.Hold(
            id="HD-DONE",
            account_id="AC-ANNA",
            kind="fraud",
            placed_by="agent",
            reason_code="suspected_app_scam",
            status="released",
            placed_at=ago(days=30),
        ),
        t.SupervisorApproval(
            id="SA-HELD", subject_id="HD-HELD", action="release", approved_by="shift lead", approved_at=ago(hours=1)
        ),
    ]


def _applications() -> list[Any]:
    def application(key: str, status: str = "submitted", **more: Any) -> t.Application:
        values = {
            "kind": "personal",
            "product": "personal_checking",
            "applicant_name": "Carla Mendes",
            "date_of_birth": date(1999, 7, 8),
            "tax_id": f"55{len(key)}-{sum(map(ord, key)) % 90 + 10}-7788",
            "tax_id_kind": "ssn",
            "email": f"{key.lower()}@example.com",
            "phone": "(202) 555-0131",
            "device": f"device of {key}",
            "address": "5 Oak Avenue, Albany, NY 12207",
            "submitted_at": ago(days=2),
        }
        return t.Application(id=key, status=status, **(values | more))

    return [
        application("AP-CARLA"),
        application("AP-BEN", customer_id="CU-BEN", tax_id="987-65-4321", phone="(415) 555-0177"),
        application("AP-DONE", "opened", phone="(202) 555-0190"),
        application("AP-TWIN", email="ap-carla@example.com", submitted_at=ago(days=20)),
        t.ApplicationCheck(id="AK-DOC", application_id="AP-CARLA", kind="document", result="passed", at=ago(days=2)),
        t.ApplicationCheck(
            id="AK-TAX",
            application_id="AP-CARLA",
            kind="tax_id",
            result="failed",
            at=ago(days=2),
            register_value="555-12-7788",
        ),
        t.ApplicationCorrection(id="AN-CARLA", application_id="AP-TWIN", field="phone", at=ago(days=19)),
        t.Verification(
            id="VL-ANNA", customer_id="CU-ANNA", factor="email", matched=True, channel="robot", at=ago(minutes=9)
        ),
        t.StepUp(id="SU-ANNA", customer_id="CU-ANNA", method="push", target="DV-ANNA", created_at=ago(minutes=8)),
        t.StepUp(
            id="SU-CALL",
            customer_id="CU-ANNA",
            method="call_back",
            target="(415) 555-0142",
            created_at=ago(minutes=7),
        ),
        t.StepUp(id="SU-BEN", customer_id="CU-BEN", method="push", target="DV-BEN", created_at=ago(minutes=6)),
        t.RecoveryAttempt(id="RA-ANNA", customer_id="CU-ANNA", result="wrong", at=ago(minutes=5)),
    ]


def _fill(session: Session) -> None:
    for row in (*_people(), *_accounts(), *_cards(), *_ledger(), *_payments(), *_applications()):
        session.add(row)
        session.flush()


@cache
def template() -> StoreTemplate:
    """Return the prepared store of the small bank, built once."""
    return StoreTemplate(t.TABLES, _fill)


ANNA = Controls(app_as="CU-ANNA", devices=frozenset({"DV-ANNA"}), phones=frozenset({"(415) 555-0142"}))
BEN = Controls(app_as="CU-BEN", devices=frozenset({"DV-BEN"}))


def open_bank(controls: Controls = ANNA, now: datetime = NOW, resources: Mapping[str, Any] | None = None) -> World:
    """Open the small bank with every tool unlocked and granted."""
    tools = bank_tools()
    hidden = [tool for tool in tools.values() if tool.access is Access.DISCOVERABLE]
    return World(
        tools=tools,
        store=template().open(),
        now=now,
        zone=NEW_YORK,
        knowledge=NoKnowledge(),
        controls=controls,
        draw=Draw(("small bank",)),
        vocabularies={"reason_code": frozenset({"suspected_app_scam", "payee_cooling_off", "structuring", "none"})},
        resources={"detector": Scorecard()} if resources is None else resources,
        unlocked={tool.name for tool in hidden if tool.actor is Actor.AGENT},
        granted={tool.name for tool in hidden if tool.actor is Actor.CALLER},
    )


def call(world: World, tool: str, /, **arguments: Any) -> CallOutcome:
    """Call a tool as the participant whose tool it is."""
    found = world.tools[tool]
    if found.actor is Actor.AGENT and found.access is Access.DISCOVERABLE:
        return world.call(Actor.AGENT, "call_unlocked_tool", {"tool": tool, "arguments": arguments})
    return world.call(found.actor, tool, arguments)


def effect(change: Change) -> tuple[str, str, dict[str, Any]]:
    """Return what a change did: the new row without its id, or only the columns that an update moved."""
    assert change.after is not None
    if change.kind is ChangeKind.INSERT:
        return ("new", change.row.table, {name: value for name, value in change.after.items() if name != "id"})
    assert change.before is not None
    moved = {name: value for name, value in change.after.items() if value != change.before[name]}
    return (change.row.key, change.row.table, moved)
