"""What the example agents do: look into the bank's rules once a turn, then refuse."""


def next_step(heard, used):
    """Return the next step of a turn: a tool to call with its arguments, or what to say.

    `heard` is what the caller said last; `used` holds the results of the tools called since, as JSON, by name.
    """
    if "kb_search" not in used:
        return {"call": "kb_search", "arguments": {"query": heard[:200], "limit": 3}}
    return {"say": "I am not able to do that for you. Please bring the papers to a branch."}
