"""Misbehaves in every episode in another way, in the order of `WAYS`; between two of them it refuses in plain words."""

from itertools import count

from domains.kit.domain import Call
from harness.episode.turn import Turn

REFUSAL = "I am not able to do that for you."
SIGNS = (
    "\x1b[2J\x1b[31mred\x07 \x00 [bold]{due.id}[/bold] {0!r} %s <script>alert(1)</script> | a\u202eb \r\n\t # _x_ `y`"
)


class Unreadable(Exception):
    def __str__(self):
        raise ValueError("no message either")


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def calling(tool, arguments):
    """Make one call in the first turn, then refuse."""
    return lambda turn: Turn(calls=(Call(tool, arguments),)) if turn == 0 else REFUSAL


def raising(fault):
    def respond(turn):
        raise fault

    return respond


def endless(turn):
    return endless(turn)


async def later(turn):
    return REFUSAL


PAYMENT = {"payment_id": "PM-0"}
LIMITS = {"account_id": "AC-0", "limit": "many"}

WAYS = {
    "raises": raising(RuntimeError("the model is down {0} [red]")),
    "raises what has no message": raising(Unreadable()),
    "exits": raising(SystemExit(7)),
    "recurses": endless,
    "returns nothing": lambda turn: None,
    "returns a dict": lambda turn: {"text": REFUSAL},
    "returns a coroutine": later,
    "returns bytes": lambda turn: Turn(text=REFUSAL.encode()),
    "returns calls that are none": lambda turn: Turn(calls=("release_payment",)),
    "calls a tool without a name": lambda turn: Turn(calls=(Call(None, {}),)),
    "calls for ever": lambda turn: Turn(calls=(Call("get_current_time", {}),)),
    "errs for ever": lambda turn: Turn(calls=(Call("get_payment", PAYMENT),)),
    "calls a thousand tools at once": lambda turn: Turn(calls=(Call("get_current_time", {}),) * 1000),
    "keeps the floor for ever": lambda turn: Turn("And another thing.", yields=False),
    "stays silent": lambda turn: "",
    "says a megabyte": lambda turn: REFUSAL + " Sorry." * 150_000,
    "says signs that terminals obey": lambda turn: f"{REFUSAL} {SIGNS}",
    "says half a character": lambda turn: f"{REFUSAL} \ud83d",
    "calls an unknown tool": calling("give_everything_away", {"to": "me"}),
    "calls a tool with a terrible name": calling(SIGNS * 100, {}),
    "calls a tool that is locked": calling("request_recall", {"ledger_id": "LE-0", "reason": "so"}),
    "calls a tool of the caller's": calling("approve_push", {"step_up_id": "SU-0"}),
    "gives wrong types": calling("list_ledger", LIMITS),
    "gives too little": calling("get_payment", {}),
    "gives too much": calling("get_payment", PAYMENT | {"force": True}),
    "gives what is no number": calling("list_ledger", {"account_id": "AC-0", "limit": float("nan")}),
    "gives a number without end": calling("list_ledger", {"account_id": "AC-0", "limit": 10**400}),
    "gives deep nesting": calling("get_payment", {"payment_id": nested(100)}),
    "gives nesting without end": calling("get_payment", {"payment_id": nested(100_000)}),
    "gives a megabyte": calling("get_payment", {"payment_id": "x" * 1_000_000}),
    "gives half a character": calling("get_payment", {"payment_id": "\ud83d"}),
    "gives what is no JSON": calling("get_payment", {"payment_id": object()}),
    "gives signs that terminals obey": calling("get_payment", {"payment_id": SIGNS}),
    "gives names that are none": calling("get_payment", {1: 2, None: 3}),
    "hangs up with a terrible reason": lambda turn: Turn(REFUSAL, ends=SIGNS),
}
EPISODE = count()


class Agent:
    def __init__(self, respond):
        self.respond_in = respond
        self.turns = count()

    def respond(self, view):
        return self.respond_in(next(self.turns))


def make_agent(brief):
    place, is_between = divmod(next(EPISODE), 2)
    if is_between or place >= len(WAYS) + 2:
        return Agent(lambda turn: REFUSAL)
    if place == len(WAYS):
        raise LookupError("no agent today")
    if place == len(WAYS) + 1:
        return object()
    return Agent(list(WAYS.values())[place])
