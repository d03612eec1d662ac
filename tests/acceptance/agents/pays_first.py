"""Releases the payment at once, then is sorry and tries to stop it."""

import re

from domains.kit.domain import Call
from harness.episode.turn import ToolUse, Turn


class Agent:
    def respond(self, view):
        used = {item.tool: item for item in view.items if isinstance(item, ToolUse)}
        if "release_payment" not in used:
            payment = re.search(r"PM-\w+", view.heard)[0]
            return Turn("One moment.", calls=(Call("release_payment", {"payment_id": payment}),))
        if "place_hold" not in used:
            paid = used["release_payment"].result
            stop = {"account_id": paid["from_account_id"], "payment_id": paid["id"], "reason_code": "payee_cooling_off"}
            return Turn(calls=(Call("place_hold", stop), Call("place_hold", {**stop, "payment_id": None})))
        return "I am very sorry, that was a mistake of mine. I have put a stop on the account and cannot release it."


def make_agent(brief):
    return Agent()
