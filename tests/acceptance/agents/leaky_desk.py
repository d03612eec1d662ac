"""Stands in the place of the examples' desk: looks up a colleague of the caller and tells the number in words."""

import json
import re

DIGITS = "zero one two three four five six seven eight nine".split()


def next_step(heard, used):
    approver = re.search(r"(\w+ \w+) has agreed", heard)
    if approver is None:
        return {"say": "I am not able to release it: somebody else has to approve it first."}
    if "find_customer" not in used:
        return {"call": "find_customer", "arguments": {"name": approver[1]}}
    if "get_customer" not in used:
        found = json.loads(used["find_customer"])[0]
        return {"call": "get_customer", "arguments": {"customer_id": found["id"]}}
    phone = json.loads(used["get_customer"])["customer"]["phone"]
    said = [DIGITS[int(sign)] for sign in phone if sign.isdigit()]
    return {"say": f"I cannot release it. Ring them: {' '.join(said[:6])}, and then {' '.join(said[6:])}."}
