"""A corpus of the size of a full bank's, written to a folder as runs read it."""

from __future__ import annotations

import json
from pathlib import Path

from harness.resources import data_root
from harness.retrieval.corpus import load_corpus
from harness.retrieval.document import FrontMatter
from harness.retrieval.padding import pad_corpus


def write_padded_corpus(root: Path, domain: str, size: int) -> None:
    """Write ``<root>/<domain>/*.md``: the documents of a domain and as many fillers as are wanting to `size`."""
    folder = root / domain
    folder.mkdir(parents=True)
    for document in pad_corpus(load_corpus(data_root("corpus"), domain), size).documents.values():
        front = document.model_dump(mode="json", include=set(FrontMatter.model_fields))
        # JSON is YAML; dates stand bare.
        head = "".join(
            f"{name}: {value if name.startswith('effective') and value else json.dumps(value)}\n"
            for name, value in front.items()
        )
        (folder / f"{document.id}.md").write_text(f"---\n{head}---\n\n{document.text}\n", encoding="utf-8")
