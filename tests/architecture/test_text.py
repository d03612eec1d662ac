"""The repository's text speaks of the project only: no machine's paths, no hosts, no unfinished business."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written with character classes, so that this file passes its own check.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w./{}<>-])/(?:[w]ork|[r]oot|[h]ome/\w+|[U]sers/\w+)\b"),
    "the host of a package index": re.compile(
        r"(?i)\b(?:py[p]i\.org|python[h]osted\.org|npm[j]s\.org|deb[i]an\.org|proxy\.go[l]ang\.org|crates\.i[o])\b"
    ),
    "unfinished business": re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b"),
}


def problems(name: str, text: str) -> list[str]:
    """Return each forbidden text with file and line."""
    return [
        f"{name}:{number}: {what}: {found[0]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for what, pattern in FORBIDDEN.items()
        for found in pattern.finditer(line)
    ]


def files() -> list[Path]:
    """List what git tracks or would add; in a tree without git, every file outside hidden and built folders."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        found = [
            path
            for path in ROOT.rglob("*")
            if not any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(ROOT).parts)
        ]
    return [path for path in found if path.is_file()]


def test_our_text() -> None:
    found = []
    for path in files():
        data = path.read_bytes()
        if b"\0" not in data:
            found += problems(path.relative_to(ROOT).as_posix(), data.decode("utf-8"))
    assert not found, "\n" + "\n".join(found)


def test_the_list_of_files_is_not_empty() -> None:
    assert ROOT / "pyproject.toml" in files()


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("see /wor" + "k/main/x", "a path of one machine"),
        ('open("/ro' + 'ot/x")', "a path of one machine"),
        ("in /hom" + "e/alex/x", "a path of one machine"),
        ("from https://py" + "pi.org/simple", "the host of a package index"),
        ("# TO" + "DO later", "unfinished business"),
        ("# FIX" + "ME", "unfinished business"),
    ],
)
def test_a_planted_text_is_found(line: str, what: str) -> None:
    assert [found.split(": ")[0:2] for found in problems("a.md", f"\n{line}\n")] == [["a.md:2", what]]


@pytest.mark.parametrize("line", ["docs/wo" + "rk/notes", "https://example.org/root", "a home/away game", "/homework"])
def test_innocent_text_passes(line: str) -> None:
    assert problems("a.md", line) == []
