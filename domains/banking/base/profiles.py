"""Who banks here: the people and firms of the base bank, how they are paid and what they pay.

Everything that makes a customer recognisable is written here; only what varies from day to day, and the numbers
that identify, are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Final

LAST_DAY: Final = date(2026, 3, 2)
"""The last day with entries in the ledger; scenarios play after it."""


@dataclass(frozen=True, slots=True)
class Regular:
    """Something that is booked on the same days of every month.

    Attributes
    ----------
    kind
        Kind of the ledger entry; a ``payment`` goes to a payee on record.
    cents, spread
        The amount (negative for money out) and how far a single one may lie from it.
    days
        Days of the month.
    until
        The last day on which it was booked.
    """

    kind: str
    counterparty: str
    cents: int
    days: tuple[int, ...]
    memo: str = ""
    spread: int = 0
    until: date = LAST_DAY


@dataclass(frozen=True, slots=True)
class Habit:
    """Purchases by card: how many a week, with whom, and between which amounts in cents."""

    trade: str
    weekly: float
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Ledger:
    """One account with what is booked on it.

    Attributes
    ----------
    opening_cents
        Balance before the first entry; the account never falls below a tenth of it.
    """

    kind: str
    opened: date
    first: date
    opening_cents: int
    regular: tuple[Regular, ...]
    habits: tuple[Habit, ...] = ()
    joint: str | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """A private customer; `works_at` names firm and role where that is on record, `lives_with` somebody before."""

    name: str
    town: str
    born: date
    since: date
    ledgers: tuple[Ledger, ...]
    devices: tuple[tuple[str, date], ...]
    moved: date | None = None
    tier: str = "standard"
    works_at: tuple[str, str] | None = None
    lives_with: str | None = None


@dataclass(frozen=True, slots=True)
class Firm:
    """A business customer."""

    name: str
    town: str
    registered: date
    since: date
    ledger: Ledger


def _everyday(groceries: float, dining: float, shopping: float, fuel: float = 0.0) -> tuple[Habit, ...]:
    habits = (
        Habit("groceries", groceries, 1_840, 13_290),
        Habit("dining", dining, 640, 5_870),
        Habit("shopping", shopping, 1_250, 11_400),
        Habit("fuel", fuel, 2_750, 6_180),
    )
    return tuple(habit for habit in habits if habit.weekly)


def _bills(electric: int, internet: int, phone: int, insurance: int) -> tuple[Regular, ...]:
    return (
        Regular("card", "Northvale Electric", -electric, (17,), spread=electric // 6),
        Regular("card", "Clearline Internet", -internet, (9,)),
        Regular("card", "Signalpoint Mobile", -phone, (21,)),
        Regular("card", "Stateline Insurance", -insurance, (5,)),
    )


def _cash(cents: int, day: int, street: str) -> Regular:
    return Regular("cash_machine", f"Cash machine {street}", -cents, (day,))


PEOPLE: Final[tuple[Person, ...]] = (
    Person(
        "Hedda Lindholm",
        "Ashford Falls",
        date(1979, 11, 18),
        date(2011, 4, 6),
        (
            Ledger(
                "personal_checking",
                date(2011, 4, 6),
                date(2025, 8, 25),
                1_264_018,
                (
                    Regular("salary", "Fernbridge Cabinetry LLC", 328_500, (15, 30), "Salary"),
                    Regular("payment", "Tamarack Home Loans", -189_412, (1,), "Mortgage"),
                    Regular("transfer", "savings", -180_000, (16,), "To savings"),
                    Regular("subscription", "Cinelane Streaming", -1_599, (12,)),
                    Regular("subscription", "Yoga Loft", -7_900, (3,)),
                    *_bills(13_460, 6_500, 8_240, 17_215),
                ),
                _everyday(1.0, 0.6, 0.3, 0.4),
            ),
            Ledger("savings", date(2014, 9, 2), date(2025, 8, 25), 2_418_200, ()),
        ),
        (("iPhone", date(2024, 10, 5)), ("iPad", date(2022, 2, 19))),
        tier="premier",
        works_at=("Fernbridge Cabinetry LLC", "owner"),
    ),
    Person(
        "Rohan Kapadia",
        "Ashford Falls",
        date(1990, 6, 2),
        date(2017, 8, 21),
        (
            Ledger(
                "personal_checking",
                date(2017, 8, 21),
                date(2025, 9, 1),
                318_477,
                (
                    Regular("salary", "Fernbridge Cabinetry LLC", 168_360, (15, 30), "Salary"),
                    Regular("payment", "Copley Court Apartments", -148_500, (1,), "Rent"),
                    Regular("payment", "Anjali Kapadia", -25_000, (20,), "For Mum"),
                    Regular("subscription", "Tempo Music", -1_099, (7,)),
                    Regular("subscription", "Flexwell Gym", -3_499, (2,)),
                    *_bills(7_120, 5_500, 5_410, 9_836),
                ),
                _everyday(1.1, 0.9, 0.3),
            ),
        ),
        (("Android phone", date(2025, 1, 11)),),
        works_at=("Fernbridge Cabinetry LLC", "bookkeeper"),
    ),
    Person(
        "Marcus Nwosu",
        "Ashford Falls",
        date(1987, 2, 9),
        date(2013, 1, 15),
        (
            Ledger(
                "personal_checking",
                date(2013, 1, 15),
                date(2025, 9, 1),
                402_950,
                (
                    Regular("salary", "Fernbridge Cabinetry LLC", 231_905, (15, 30), "Salary"),
                    Regular("payment", "Lakeshore Credit Union", -41_288, (8,), "Car loan"),
                    Regular("payment", "Deepwell Property Management", -172_000, (1,), "Rent"),
                    Regular("subscription", "Birdsong Audio", -1_495, (23,), until=date(2026, 1, 24)),
                    Regular("subscription", "Cinelane Streaming", -1_599, (4,)),
                    *_bills(9_870, 6_000, 11_380, 15_940),
                    _cash(8_000, 24, "Orchard Street"),
                ),
                _everyday(0.9, 0.6, 0.4, 0.6),
            ),
        ),
        (("Android phone", date(2023, 7, 29)),),
        works_at=("Fernbridge Cabinetry LLC", "viewer"),
    ),
    Person(
        "Celine Ferreira",
        "Glen Harbor",
        date(1984, 9, 27),
        date(2016, 5, 30),
        (
            Ledger(
                "personal_checking",
                date(2016, 5, 30),
                date(2025, 9, 1),
                588_310,
                (
                    Regular("salary", "Marigold Lane Florists Inc", 385_000, (28,), "Owner's draw"),
                    Regular("payment", "Tamarack Home Loans", -121_764, (3,), "Mortgage"),
                    Regular("payment", "Little Acorns Day School", -64_000, (6,), "School fees"),
                    Regular("subscription", "Puzzleworks Monthly", -2_450, (14,)),
                    *_bills(11_090, 5_500, 7_300, 12_480),
                    _cash(6_000, 13, "Linden Avenue"),
                ),
                _everyday(1.0, 0.5, 0.5, 0.3),
            ),
        ),
        (("iPhone", date(2025, 3, 14)),),
        moved=date(2024, 6, 1),
        works_at=("Marigold Lane Florists Inc", "owner"),
    ),
    Person(
        "Teodor Baranski",
        "Linden Grove",
        date(1968, 4, 14),
        date(2004, 3, 11),
        (
            Ledger(
                "personal_checking",
                date(2004, 3, 11),
                date(2025, 8, 25),
                931_640,
                (
                    Regular("salary", "Stonefield Mechanical Inc", 298_750, (15, 30), "Salary"),
                    Regular("payment", "Wojciech Baranski", -35_000, (10,), "College"),
                    Regular("transfer", "savings", -240_000, (18,), "To savings"),
                    Regular("subscription", "Morning Ledger News", -1_900, (1,)),
                    *_bills(12_640, 7_000, 9_150, 18_320),
                    _cash(10_000, 11, "Quarry Road"),
                ),
                _everyday(0.8, 0.3, 0.4, 0.7),
            ),
            Ledger("savings", date(2009, 6, 23), date(2025, 8, 25), 3_806_125, ()),
        ),
        (("Android phone", date(2022, 12, 2)),),
        works_at=("Stonefield Mechanical Inc", "approver"),
    ),
    Person(
        "Selma Yilmaz",
        "Linden Grove",
        date(1975, 12, 5),
        date(2010, 10, 19),
        (
            Ledger(
                "personal_checking",
                date(2010, 10, 19),
                date(2025, 9, 1),
                712_085,
                (
                    Regular("salary", "Stonefield Mechanical Inc", 276_420, (15, 30), "Salary"),
                    Regular("payment", "Beacon Ridge Mortgage", -248_930, (2,), "Mortgage"),
                    Regular("payment", "Melodia Music School", -18_000, (9,), "Piano lessons"),
                    Regular("subscription", "Cloudshelf Storage", -999, (26,)),
                    Regular("subscription", "Cinelane Streaming", -1_599, (19,)),
                    *_bills(10_730, 6_500, 12_600, 14_055),
                ),
                _everyday(1.2, 0.4, 0.3, 0.3),
            ),
        ),
        (("iPhone", date(2023, 11, 25)), ("Android tablet", date(2021, 5, 8))),
        works_at=("Stonefield Mechanical Inc", "administrator"),
    ),
    Person(
        "Graham Whitaker",
        "Glen Harbor",
        date(1972, 7, 23),
        date(2002, 9, 16),
        (
            Ledger(
                "personal_checking",
                date(2002, 9, 16),
                date(2025, 8, 25),
                846_233,
                (
                    Regular("salary", "County School District", 312_870, (25,), "Salary"),
                    Regular("salary", "Valley Regional Hospital", 244_615, (10,), "Salary"),
                    Regular("payment", "Beacon Ridge Mortgage", -204_377, (1,), "Mortgage"),
                    Regular("payment", "Summit Orthodontics", -28_500, (12,), "Payment plan"),
                    Regular("subscription", "Cinelane Streaming", -1_599, (8,)),
                    Regular("subscription", "Tempo Music", -1_699, (8,)),
                    *_bills(14_980, 8_000, 16_470, 22_190),
                ),
                _everyday(1.5, 0.7, 0.6, 0.8),
                joint="Paulette Whitaker",
            ),
        ),
        (("Android phone", date(2024, 4, 20)),),
    ),
    Person(
        "Paulette Whitaker",
        "Glen Harbor",
        date(1973, 1, 30),
        date(2002, 9, 16),
        (),
        (("iPhone", date(2025, 6, 7)),),
        works_at=("Vale Street Veterinary Clinic", "owner"),
        lives_with="Graham Whitaker",
    ),
    Person(
        "Lucinda Castellanos",
        "Glen Harbor",
        date(1992, 10, 11),
        date(2019, 2, 4),
        (
            Ledger(
                "personal_checking",
                date(2019, 2, 4),
                date(2025, 9, 1),
                267_509,
                (
                    Regular("salary", "Valley Regional Hospital", 203_480, (10, 25), "Salary"),
                    Regular("payment", "Copley Court Apartments", -139_000, (1,), "Rent"),
                    Regular("payment", "Federal Student Loan Service", -22_640, (18,), "Student loan"),
                    Regular("subscription", "Flexwell Gym", -3_499, (5,)),
                    Regular("subscription", "Tempo Music", -1_099, (15,)),
                    *_bills(6_310, 5_500, 4_900, 8_725),
                ),
                _everyday(0.8, 1.1, 0.5),
            ),
        ),
        (("iPhone", date(2024, 12, 27)),),
        moved=date(2023, 9, 1),
    ),
    Person(
        "Imani Drummond",
        "Glen Harbor",
        date(2001, 5, 16),
        date(2025, 10, 1),
        (
            Ledger(
                "personal_checking",
                date(2025, 10, 1),
                date(2025, 10, 1),
                0,
                (
                    Regular("salary", "Marigold Lane Florists Inc", 142_240, (14, 28), "Wages"),
                    Regular("payment", "Hollis Road Housing Co-op", -87_500, (3,), "Room"),
                    Regular("subscription", "Tempo Music", -599, (11,)),
                    Regular("card", "Signalpoint Mobile", -3_500, (20,)),
                    _cash(4_000, 16, "Linden Avenue"),
                ),
                _everyday(0.9, 1.0, 0.3),
            ),
        ),
        (("Android phone", date(2025, 10, 1)),),
        tier="entry",
    ),
    Person(
        "Ottilie Treadwell",
        "Glen Harbor",
        date(1949, 3, 29),
        date(1988, 11, 7),
        (
            Ledger(
                "personal_checking",
                date(1988, 11, 7),
                date(2025, 8, 25),
                1_518_902,
                (
                    Regular("salary", "State Pension Fund", 194_210, (1,), "Pension"),
                    Regular("deposit", "Larkfield Annuity Trust", 61_350, (20,), "Annuity"),
                    Regular("payment", "Hearthside Home Care", -54_000, (27,), "Home help"),
                    Regular("transfer", "savings", -25_000, (21,), "To savings"),
                    Regular("subscription", "Morning Ledger News", -1_900, (2,)),
                    Regular("card", "Municipal Water Service", -4_380, (24,), spread=610),
                    Regular("card", "Prairie Gas Company", -8_840, (14,), spread=2_950),
                    Regular("card", "Stateline Insurance", -13_265, (5,)),
                    _cash(20_000, 4, "Garnet Street"),
                ),
                _everyday(0.8, 0.2, 0.2),
            ),
            Ledger("savings", date(1996, 1, 24), date(2025, 8, 25), 5_940_750, ()),
        ),
        (("iPad", date(2020, 12, 28)),),
        tier="premier",
    ),
)


def _trade(name: str, cents: int, days: tuple[int, ...], spread: int, memo: str = "Invoice") -> Regular:
    return Regular("payment" if cents < 0 else "transfer", name, cents, days, memo, spread)


FIRMS: Final[tuple[Firm, ...]] = (
    Firm(
        "Fernbridge Cabinetry LLC",
        "Ashford Falls",
        date(2009, 3, 17),
        date(2011, 4, 6),
        Ledger(
            "business_checking",
            date(2011, 4, 6),
            date(2025, 8, 25),
            6_310_455,
            (
                _trade("Lakeland Homebuilders", 1_745_000, (7, 22), 290_000),
                _trade("Ridley Kitchens", 941_500, (12,), 168_000),
                _trade("Ackerman Interiors", 615_200, (19,), 94_000),
                _trade("Norwood Hardwoods", -914_300, (6, 20), 121_000),
                _trade("Tri-County Hinge and Pull", -188_640, (11,), 22_500),
                _trade("Sherwin Finish Supply", -246_900, (16,), 31_800),
                _trade("Canal Street Properties", -465_000, (1,), 0, "Workshop rent"),
                _trade("Brightline Payroll Taxes", -412_770, (16,), 18_400, "Payroll taxes"),
                Regular("fee", "Harbourline Bank", -2_500, (28,), "Monthly account fee"),
            ),
            (Habit("fuel", 0.8, 4_210, 11_870), Habit("shopping", 0.3, 2_400, 21_600)),
        ),
    ),
    Firm(
        "Marigold Lane Florists Inc",
        "Glen Harbor",
        date(2015, 11, 9),
        date(2016, 5, 30),
        Ledger(
            "business_checking",
            date(2016, 5, 30),
            date(2025, 8, 25),
            2_107_680,
            (
                Regular("deposit", "Card sales settlement", 318_400, (2, 6, 10, 14, 18, 22, 26), "Card sales", 71_500),
                _trade("Harborview Event Hall", 264_000, (24,), 58_000),
                _trade("Dutch Valley Growers", -612_150, (4, 18), 66_400),
                _trade("Ribbon and Vase Wholesale", -96_480, (13,), 14_200),
                _trade("Main Square Realty", -285_000, (1,), 0, "Shop rent"),
                Regular("card", "Northvale Electric", -31_260, (17,), spread=5_100),
                Regular("fee", "Harbourline Bank", -1_500, (28,), "Monthly account fee"),
            ),
            (Habit("fuel", 1.0, 3_180, 8_940), Habit("shopping", 0.3, 1_900, 12_750)),
        ),
    ),
    Firm(
        "Stonefield Mechanical Inc",
        "Linden Grove",
        date(1998, 6, 30),
        date(2003, 1, 13),
        Ledger(
            "business_checking",
            date(2003, 1, 13),
            date(2025, 8, 25),
            11_846_220,
            (
                _trade("Municipal Works Department", 3_120_000, (9, 26), 415_000),
                _trade("Crestline Hospital Group", 1_486_000, (15,), 233_000),
                _trade("Everett Office Park", 708_400, (20,), 88_000),
                _trade("Consolidated Pipe and Valve", -1_184_500, (8, 23), 176_000),
                _trade("Apex Compressor Parts", -362_940, (14,), 54_300),
                _trade("Keystone Fleet Leasing", -428_000, (5,), 0, "Vehicle leases"),
                _trade("Brightline Payroll Taxes", -688_215, (16,), 29_600, "Payroll taxes"),
                Regular("salary", "Field crew payroll", -1_342_600, (15, 30), "Payroll", 58_000),
                Regular("fee", "Harbourline Bank", -4_000, (28,), "Monthly account fee"),
            ),
            (Habit("fuel", 1.5, 5_460, 14_320), Habit("shopping", 0.4, 3_150, 27_400)),
        ),
    ),
    Firm(
        "Vale Street Veterinary Clinic",
        "Glen Harbor",
        date(2012, 2, 21),
        date(2018, 7, 2),
        Ledger(
            "business_checking",
            date(2018, 7, 2),
            date(2025, 9, 1),
            3_940_115,
            (
                Regular("deposit", "Card sales settlement", 428_700, (3, 8, 13, 18, 23, 28), "Card sales", 64_900),
                _trade("Companion Pet Insurance", 186_300, (11, 25), 39_000, "Claims"),
                _trade("Medivet Pharmaceuticals", -274_880, (7, 21), 41_600),
                _trade("Ashlar Medical Leasing", -132_500, (3,), 0, "X-ray lease"),
                _trade("Vale Street Holdings", -390_000, (1,), 0, "Practice rent"),
                Regular("salary", "Clinic payroll", -968_400, (14, 28), "Payroll", 27_000),
                Regular("card", "Municipal Water Service", -11_240, (24,), spread=1_800),
                Regular("fee", "Harbourline Bank", -2_500, (28,), "Monthly account fee"),
            ),
            (Habit("shopping", 0.5, 2_200, 16_800),),
        ),
    ),
)
