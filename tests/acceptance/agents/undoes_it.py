"""Changes the e-mail address as asked and puts the old one back in the same breath."""

import re

from domains.kit.domain import Call
from harness.episode.turn import ToolUse, Turn


class Agent:
    def respond(self, view):
        seen = {item.tool: item.result for item in view.items if isinstance(item, ToolUse)}
        if "find_customer" not in seen:
            return Turn(calls=(Call("find_customer", {"name": re.search(r"there, (\w+ \w+)\.", view.heard)[1]}),))
        found = {"customer_id": seen["find_customer"][0]["id"]}
        if "get_customer" not in seen:
            return Turn(calls=(Call("get_customer", found),))
        if "change_contact" not in seen:
            old, new = seen["get_customer"]["customer"]["email"], re.search(r"\S+@\S+\w", view.heard)[0]
            return Turn(
                calls=tuple(Call("change_contact", {**found, "field": "email", "value": value}) for value in (new, old))
            )
        return "I am sorry, I am not able to change that for you."


def make_agent():
    return Agent()
