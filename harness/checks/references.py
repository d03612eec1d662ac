"""Every name that a scenario uses exists: tools and their arguments, tables, columns, rules, documents, words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from domains.kit.store import table_of
from domains.kit.tools import Actor
from harness.checks.case import Case, unknown
from harness.problem import Problem
from harness.scenario.model import Beat, CallPattern, Effect, Happening


def check_vocabularies(case: Case) -> Iterator[Problem]:
    """Mechanism, stage, tactics, evidence, reason codes and references are words of the domain."""
    words, scenario = case.house.domain.vocabularies, case.scenario
    yield from unknown(case, "/mechanism", "mechanism", scenario.mechanism, words.mechanisms)
    yield from unknown(case, "/annotations/stage", "workflow stage", scenario.annotations.stage, words.stages)
    for place, tactic in enumerate(scenario.caller.tactics):
        yield from unknown(case, f"/caller/tactics/{place}", "tactic", tactic, words.tactics)
    for name, beat in scenario.caller.script.beats.items():
        for place, item in enumerate(beat.evidence):
            path = f"/caller/script/beats/{name}/evidence/{place}"
            yield from unknown(case, path, "kind of evidence", item, words.evidence)
    for row, items in case.instance.row_evidence.items():
        for item in items:
            yield from unknown(case, f"/cast ({row.table} {row.key})", "kind of evidence", item, words.evidence)
    for place, code in enumerate(scenario.expect.reason_codes):
        yield from unknown(case, f"/expect/reason_codes/{place}", "reason code", code, words.reason_codes)
    for family, codes in scenario.annotations.references.items():
        path = f"/annotations/references/{family}"
        if family not in words.references:
            yield from unknown(case, path, "list of references", family, words.references)
            continue
        for place, code in enumerate(codes):
            yield from unknown(case, f"{path}/{place}", "reference", code, words.references[family])


def check_rules_and_documents(case: Case) -> Iterator[Problem]:
    """Each rule exists and is stated by one of the scenario's documents; each document exists and is current."""
    corpus, scenario = case.house.corpus, case.scenario
    stated: set[str] = set()
    for place, document_id in enumerate(scenario.documents):
        path = f"/documents/{place}"
        if document_id not in corpus.documents:
            yield from unknown(case, path, "document of the corpus", document_id, corpus.documents)
            continue
        document = corpus.documents[document_id]
        stated |= set(document.rules)
        if not document.is_current(case.instance.now.date()):
            yield case.problem(path, "a document in force", repr(document_id), "Cite the version that is current.")
    for place, rule_id in enumerate(scenario.rules):
        path = f"/rules/{place}"
        yield from unknown(case, path, "written rule", rule_id, case.house.domain.rule_ids)
        if rule_id not in stated:
            yield case.problem(
                path, "a rule that one of the scenario's documents states", repr(rule_id), "Add its document."
            )


def check_tools(case: Case) -> Iterator[Problem]:
    """Each tool exists, belongs to whoever is to call it, and takes the arguments that are given."""
    script = case.scenario.caller.script
    for name, beat in script.beats.items():
        yield from _beat_tools(case, beat, f"/caller/script/beats/{name}")
    for name, arguments in script.when_granted.items():
        yield from _call(case, CallPattern(tool=name, args=arguments), f"/caller/script/when_granted/{name}", "caller")
    for path, pattern in _patterns(case.scenario.expect, "/expect"):
        yield from _call(case, pattern, path)


def _beat_tools(case: Case, beat: Beat, path: str) -> Iterator[Problem]:
    for place, wish in enumerate(beat.requests):
        if wish.tool is not None:
            yield from _call(case, CallPattern(tool=wish.tool, args=wish.args), f"{path}/requests/{place}")
    for place, call in enumerate(beat.calls):
        yield from _call(case, call, f"{path}/calls/{place}", "caller")


def _call(case: Case, pattern: CallPattern, path: str, actor: str | None = None) -> Iterator[Problem]:
    tools = case.house.domain.tools
    if pattern.tool not in tools:
        yield from unknown(case, f"{path}/tool", "tool", pattern.tool, tools)
        return
    tool = tools[pattern.tool]
    if actor is not None and tool.actor is not Actor(actor):
        yield case.problem(f"{path}/tool", f"a tool of the {actor}", repr(tool.name), "Name one of the app's tools.")
    for argument in pattern.args:
        yield from unknown(
            case, f"{path}/args/{argument}", f"argument of {tool.name}", argument, tool.arguments.model_fields
        )


def _patterns(part: Any, path: str) -> Iterator[tuple[str, CallPattern]]:
    if isinstance(part, CallPattern):
        yield path, part
    elif isinstance(part, BaseModel):
        for name in type(part).model_fields:
            yield from _patterns(getattr(part, name), f"{path}/{name}")
    elif isinstance(part, tuple):
        for place, item in enumerate(part):
            yield from _patterns(item, f"{path}/{place}")


def check_tables(case: Case) -> Iterator[Problem]:
    """Each table and column that an expectation names exists."""
    expect = case.scenario.expect
    for group in ("prohibited", "wanted", "required"):
        happenings: tuple[Happening, ...] = getattr(expect, group)
        for place, happening in enumerate(happenings):
            if happening.effect is not None:
                yield from _effect(case, happening.effect, f"/expect/{group}/{place}/effect")
    for place, predicate in enumerate(expect.state):
        yield from _columns(case, predicate.table, predicate.where, f"/expect/state/{place}", "where")


def _effect(case: Case, effect: Effect, path: str) -> Iterator[Problem]:
    for name, values in (("where", effect.where), ("becomes", effect.becomes), ("insert", effect.insert)):
        yield from _columns(case, effect.table, values or {}, path, name)


def _columns(case: Case, table: str, values: Mapping[str, Any], path: str, part: str) -> Iterator[Problem]:
    models = case.house.domain.models
    if table not in models:
        yield from unknown(case, f"{path}/table", "table", table, models)
        return
    columns = {column.name: column for column in table_of(models[table]).columns}
    for name in values:
        yield from unknown(case, f"{path}/{part}/{name}", f"column of {table}", name, columns)


def check_beats(case: Case) -> Iterator[Problem]:
    """The latest intervention is a beat; a decision point exists; an attack says what it expects."""
    scenario, beats = case.scenario, case.scenario.caller.script.beats
    expect = scenario.expect
    if expect.intervention is not None:
        yield from unknown(case, "/expect/intervention/latest_beat", "beat", expect.intervention.latest_beat, beats)
    decisive = [name for name, beat in beats.items() if beat.decision_point]
    if len(decisive) != 1:
        yield case.problem(
            "/caller/script/beats",
            "one beat with decision_point",
            ", ".join(decisive) or "none",
            "Mark exactly the beat that asks for the harm.",
        )
    if scenario.kind == "attack":
        for name in ("prohibited", "dispositions", "reason_codes"):
            if not getattr(expect, name):
                yield case.problem(f"/expect/{name}", "at least one entry", "none", "An attack must say it.")
    elif not expect.wanted:
        yield case.problem("/expect/wanted", "at least one entry", "none", "A twin must say what is to be done.")
