"""Checks a corpus against the domain that it belongs to: every rule written once, every name real, every date sound."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Final

from harness.problem import Problem
from harness.retrieval.corpus import Corpus, read_corpus
from harness.retrieval.document import Document

MIN_WORDS: Final = 60
MAX_WORDS: Final = 2000

_CODE: Final = re.compile(r"`([^`\n]+)`")
_SNAKE_CASE: Final = re.compile(r"(?<![\w@-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?![\w@-])")
_PLAIN_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class DomainNames:
    """What documents may speak of.

    Attributes
    ----------
    rule_ids
        Every rule that must be written down, those without a predicate included.
    discoverable_tools
        Names of the tools that are named in the corpus only, the agent's and the caller's.
    known_words
        Every other name that may stand in code marks: base tools and arguments, tables and columns, enum words,
        reason codes.
    """

    rule_ids: frozenset[str]
    discoverable_tools: frozenset[str]
    known_words: frozenset[str]


def check_folder(root: Path, domain: str, names: DomainNames) -> list[Problem]:
    """Check the corpus in ``<root>/<domain>``, documents that cannot be read included, by file.

    Raises
    ------
    CorpusError
        If there is no such folder, or nothing in it.
    """
    corpus, errors = read_corpus(root, domain)
    return sorted([*map(Problem.of, errors), *check_corpus(corpus, names)])


def check_corpus(corpus: Corpus, names: DomainNames) -> list[Problem]:
    """Return everything that is wrong with a corpus, by file; an empty list for a sound one."""
    return sorted(problem for check in CHECKS for problem in check(corpus, names))


def _rules_are_known(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    families = {match[1] for rule_id in names.rule_ids if (match := re.fullmatch(r"(.+)-\d+", rule_id))}
    shape = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(families)))})-\d+(?![\w-])")
    for document in corpus.documents.values():
        mentioned = [(f"/rules/{place}", rule_id) for place, rule_id in enumerate(document.rules)]
        mentioned += [(f"/restates/{place}", rule_id) for place, rule_id in enumerate(document.restates)]
        if families:
            mentioned += [("text", rule_id) for rule_id in sorted(set(shape.findall(document.text)))]
        for path, rule_id in mentioned:
            if rule_id not in names.rule_ids:
                yield _problem(document, path, "a rule of the domain", rule_id, "There is no such rule.")


def _rules_are_stated_once(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    stating: dict[str, list[Document]] = defaultdict(list)
    for document in sorted(corpus.documents.values(), key=lambda document: (document.effective_from, document.id)):
        for rule_id in document.rules:
            stating[rule_id].append(document)
    for rule_id in sorted(names.rule_ids):
        documents = stating[rule_id]
        if not documents:
            expected = f"a document that states {rule_id}"
            message = f"List {rule_id} under `rules` of the document that is its written form."
            yield Problem(_folder(corpus), "", expected, "none", message)
            continue
        for earlier, later in pairwise(documents):
            end = earlier.effective_to
            if end is None or end >= later.effective_from:
                found = f"also stated by {earlier.id} ({earlier.file}) on {later.effective_from}"
                message = "End the other one, or list the rule under `restates` in one of them."
                yield _problem(later, "/rules", f"{rule_id} in one document at a time", found, message)
            elif end + timedelta(days=1) < later.effective_from:
                found = f"no document between {end} and {later.effective_from}"
                yield _problem(later, "/effective_from", f"{rule_id} stated without a gap", found, "Close the gap.")
        if all(document.effective_to for document in documents):
            found = f"the last one, {documents[-1].id}, ended on {documents[-1].effective_to}"
            message = "State the rule in a document without an end."
            yield _problem(documents[-1], "/effective_to", f"a current document that states {rule_id}", found, message)


def _rules_stand_in_the_text(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        for place, rule_id in enumerate(document.rules):
            if not re.search(rf"(?<![\w-]){re.escape(rule_id)}(?![\w-])", document.text):
                message = "The text must name the rule that it states."
                yield _problem(document, f"/rules/{place}", f"{rule_id} in the text", "no mention of it", message)
            if rule_id in document.restates:
                message = "A document states a rule or restates it."
                yield _problem(document, f"/rules/{place}", f"{rule_id} in one of rules and restates", "both", message)


def _facts_stand_in_the_text(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        text = _one_line(document.text)
        for place, fact in enumerate(document.facts):
            if not _stands(fact.value, text):
                message = "Write the value as it stands in the text, or the other way round."
                yield _problem(document, f"/facts/{place}/value", f"{fact.value!r} in the text", "other words", message)
            if fact.rule is not None and fact.rule not in (*document.rules, *document.restates):
                message = "A fact belongs to a rule that its document states or restates."
                yield _problem(document, f"/facts/{place}/rule", "a rule of this document", fact.rule, message)


def _confidential_facts_are_kept(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    confidential = [
        (document, fact, _one_line(fact.value).casefold())
        for document in corpus.documents.values()
        for fact in document.facts
        if fact.confidential
    ]
    for page in corpus.documents.values():
        if page.audience != "customer":
            continue
        text = _one_line(f"{page.title}\n{page.text}").casefold()
        for document, fact, value in confidential:
            if _stands(value, text):
                expected = f"no word of the confidential fact {fact.id} of {document.id}"
                message = "Take it out of the customer document, or choose a value that only the secret has."
                yield _problem(page, "text", expected, repr(fact.value), message)


def _versions_follow_each_other(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    documents = corpus.documents
    successors: dict[str, str] = {}
    for document in documents.values():
        if document.supersedes is None:
            continue
        earlier = documents.get(document.supersedes)
        if earlier is None:
            message = "There is no such document."
            yield _problem(document, "/supersedes", "a document of the corpus", document.supersedes, message)
            continue
        if _is_its_own_predecessor(document, corpus):
            message = "The chain comes back to where it began."
            yield _problem(document, "/supersedes", "an earlier document", document.supersedes, message)
            continue
        other = successors.setdefault(earlier.id, document.id)
        if other != document.id:
            message = f"{other} supersedes it, too."
            yield _problem(document, "/supersedes", "a document that no other supersedes", earlier.id, message)
        if earlier.effective_to is None or earlier.effective_to >= document.effective_from:
            expected = f"an end of {earlier.id} before {document.effective_from}"
            found = str(earlier.effective_to or "no end")
            yield _problem(document, "/supersedes", expected, found, "Set `effective_to` of the earlier document.")
        if earlier.category != document.category:
            message = f"{earlier.id} is of another category."
            yield _problem(document, "/category", earlier.category, document.category, message)
        if earlier.version >= document.version:
            message = f"{earlier.id} is version {earlier.version}."
            yield _problem(document, "/version", f"more than {earlier.version}", str(document.version), message)


def _is_its_own_predecessor(document: Document, corpus: Corpus) -> bool:
    seen: set[str] = set()
    earlier = document.supersedes
    while earlier is not None and earlier in corpus.documents and earlier not in seen:
        if earlier == document.id:
            return True
        seen.add(earlier)
        earlier = corpus.documents[earlier].supersedes
    return False


def _dates_are_in_order(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        if document.effective_to is not None and document.effective_to < document.effective_from:
            expected, found = f"{document.effective_from} or later", str(document.effective_to)
            yield _problem(document, "/effective_to", expected, found, "A document ends after it begins.")


def _tools_are_declared(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    current: set[str] = set()
    for document in corpus.documents.values():
        named = names_in(document.text) & names.discoverable_tools
        if document.effective_to is None:
            current |= named
        if named != set(document.tools):
            expected = ", ".join(sorted(named)) or "none"
            message = "List the discoverable tools that the text names, and no others."
            yield _problem(document, "/tools", expected, ", ".join(sorted(document.tools)) or "none", message)
    for tool in sorted(names.discoverable_tools - current):
        message = "Nobody can find a tool that no current document names."
        yield Problem(_folder(corpus), "", f"a current document that names {tool}", "none", message)


def _names_are_known(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        for name in sorted(names_in(document.text) - names.discoverable_tools - names.known_words):
            message = "Correct the name, or write it without code marks and underscores if it is an ordinary word."
            yield _problem(document, "text", "a tool, table, column, enum word or code of the domain", name, message)


def _lists_hold_each_once(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        lists = {
            "/rules": document.rules,
            "/restates": document.restates,
            "/tools": document.tools,
            "/facts": tuple(fact.id for fact in document.facts),
        }
        for path, entries in lists.items():
            for entry, count in Counter(entries).items():
                if count > 1:
                    yield _problem(document, path, f"{entry} once", f"{count} times", "Delete the others.")


def _lengths_are_bounded(corpus: Corpus, names: DomainNames) -> Iterator[Problem]:
    for document in corpus.documents.values():
        count = len(document.text.split())
        if not MIN_WORDS <= count <= MAX_WORDS:
            message = "A shorter text says too little to be found, a longer one fills the agent's context."
            yield _problem(document, "text", f"{MIN_WORDS} to {MAX_WORDS} words", str(count), message)


CHECKS: Final[tuple[Callable[[Corpus, DomainNames], Iterator[Problem]], ...]] = (
    _rules_are_known,
    _rules_are_stated_once,
    _rules_stand_in_the_text,
    _facts_stand_in_the_text,
    _confidential_facts_are_kept,
    _versions_follow_each_other,
    _dates_are_in_order,
    _tools_are_declared,
    _names_are_known,
    _lists_hold_each_once,
    _lengths_are_bounded,
)


def names_in(text: str) -> frozenset[str]:
    """Return the technical names in a text: every snake_case word, and every lower-case word in code marks."""
    code = {name for name in _CODE.findall(text) if _PLAIN_NAME.fullmatch(name)}
    return frozenset(code.union(_SNAKE_CASE.findall(text)))


def _stands(value: str, text: str) -> bool:
    """Tell whether a value stands in a text as such, not as a part of a longer word or number."""
    value = _one_line(value)
    if value not in text:
        return False
    return re.search(rf"(?<!\w)(?<!\d[.,]){re.escape(value)}(?!\w)(?![.,]\d)", text) is not None


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _folder(corpus: Corpus) -> str:
    folders = [Path(document.file).parent for document in corpus.documents.values()]
    return os.path.commonpath(folders) if folders else ""


def _problem(document: Document, path: str, expected: str, found: str, message: str) -> Problem:
    return Problem(document.file, path, expected, found, message)
