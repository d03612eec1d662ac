"""The provider library is loaded late, says nothing, and looks at no network on the way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

LOADING = """
import socket, sys, threading

def refuse(*_):
    raise AssertionError("something wanted the network")

kept = socket.socket.connect, socket.getaddrinfo
socket.socket.connect = socket.getaddrinfo = refuse

import harness.models.build
from harness.models.config import ModelsConfig, RoleConfig
from harness.models.contract import ChatMessage, ModelRequest, Role, Speaker
from harness.models.faults import ModelFault
assert "litellm" not in sys.modules

config = RoleConfig(model="openai/gpt-4o-mini")
provider = harness.models.build.litellm_provider(config)
assert "litellm" in sys.modules
assert threading.active_count() == 1, "worker processes could not be forked any more"
assert 0 < provider.price.input < provider.price.output < 100, provider.price

socket.socket.connect, socket.getaddrinfo = kept

from tests.provider.faults import FaultPlan
from tests.provider.protocol import Reply
from tests.provider.server import serving

for fault in ("500", "429", "unknown_finish", "cut_json"):
    with serving({"m": lambda request: Reply("Hello")}, faults=FaultPlan.always(fault)) as server:
        config = ModelsConfig(agent=RoleConfig(model="openai/m", base_url=server.url, tries=1))
        request = ModelRequest(Role.AGENT, "agent/1", (ChatMessage(Speaker.USER, "Hello"),))
        try:
            harness.models.build.Models(config).session("a").client(Role.AGENT).complete(request)
        except ModelFault:
            pass
"""


def test_the_library_is_loaded_late_without_the_network_and_says_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADING],
        cwd=ROOT,
        env={"PATH": "", "OPENAI_API_KEY": "bank-key-0123456789"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
