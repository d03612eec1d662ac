"""Keys stay out of everything that a call leaves behind."""

from __future__ import annotations

import pytest

from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import ChatMessage, Finish, ModelReply, Speaker, ToolRequest, Usage
from harness.models.secrets import REDACTED, Redactor, redactor_for

KEY = "bank-key-0123456789"
MODELS = ModelsConfig(agent=RoleConfig(model="openai/m", api_key_env="BANK_LETTERS"))


def test_the_keys_that_a_configuration_names_are_taken_out() -> None:
    redactor = redactor_for(MODELS, {"BANK_LETTERS": KEY, "HOME": "somebody here"})
    assert redactor.text(f"the key {KEY}, at somebody here") == f"the key {REDACTED}, at somebody here"


def test_the_usual_variables_of_providers_are_taken_out_too() -> None:
    redactor = redactor_for(
        ModelsConfig(), {"ANTHROPIC_API_KEY": KEY, "HF_TOKEN": "hf-0123456789", "LANG": "C.UTF-8-x"}
    )
    assert redactor.text(f"{KEY} hf-0123456789 C.UTF-8-x") == f"{REDACTED} {REDACTED} C.UTF-8-x"


@pytest.mark.parametrize(
    "text",
    [
        "Incorrect API key provided: sk-proj-AbCdEf0123456789xyz.",
        "{'authorization': 'Bearer abcdefghijklmnop1'}",
        '{"Authorization": "Bearer abcdefghijklmnop1"}',
        "Authorization: Basic dXNlcjpwYXNzd29yZA2=",
        "sent with bearer abcdefgh.ijklmnop-qrst1",
        "AKIAABCDEFGHIJKLMNOP",
        "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    ],
)
def test_what_looks_like_a_key_is_taken_out(text: str) -> None:
    found = Redactor().text(text)
    assert REDACTED in found
    for secret in ("AbCdEf", "abcdefgh", "dXNlcj", "ABCDEFGH", "SyA0123"):
        assert secret not in found


@pytest.mark.parametrize(
    "text",
    [
        "I asked the bearer of the card to authorise it.",
        "Authorization: required by the bearer responsibilities policy, basic identification included.",
        "My task-force is risk-averse-as-can-possibly-be and asks for desk-top-assistance-help.",
        "Take the account 0123456789012345.",
    ],
)
def test_what_people_say_stays(text: str) -> None:
    assert Redactor(("short",)).text(text) == text
    assert Redactor(("bank-key-0123",)).text(text) == text


def test_the_longer_of_two_keys_is_taken_out_whole() -> None:
    assert Redactor(("abcdefgh", "abcdefgh-ijkl")).text("abcdefgh-ijkl") == REDACTED


def test_every_part_of_a_reply_is_searched() -> None:
    message = ChatMessage(
        Speaker.ASSISTANT,
        f"text {KEY}",
        (ToolRequest(f"id {KEY}", f"name {KEY}", f"arguments {KEY}"),),
        opaque={f"name {KEY}": [{"deep": f"value {KEY}", "number": 1}]},
    )
    reply = ModelReply(message, Finish.STOP, f"stop {KEY}", Usage(), f"model {KEY}", f"print {KEY}", (f"note {KEY}",))
    found = Redactor((KEY,)).reply(reply)
    assert KEY not in repr(found)
    assert repr(found).count(REDACTED) == 10
    assert found.message.opaque[f"name {REDACTED}"][0]["number"] == 1
