"""The texts that language models are given, one file each, versioned in their first line and hashed into every run."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template
from typing import Final

from domains.kit.json import digest

PROMPTS: Final = ("agent", "caller", "judge", "caller_audit")
"""The names of the prompts; each is a Markdown file beside this module."""


@cache
def prompt(name: str) -> Template:
    """Return a prompt as a template; ``$name`` stands for what is filled in.

    Raises
    ------
    FileNotFoundError
        If there is no prompt of that name in this installation.
    """
    return Template((files(__package__) / f"{name}.md").read_text(encoding="utf-8"))


def prompt_hashes() -> dict[str, str]:
    """Return a digest of every prompt, for the record of a run."""
    return {name: digest(prompt(name).template) for name in PROMPTS}
