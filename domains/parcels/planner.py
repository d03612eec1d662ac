"""How work is done at the counter, for agents that have no language model."""

from __future__ import annotations

from collections.abc import Sequence

from domains.kit.domain import Call, Remedy
from domains.kit.rules import TELL, Contact, Finding, Guess, Outcome, Request
from domains.kit.world import World


class CounterPlanner:
    """Looks up what a request is about; refers what a rule says must be referred."""

    def receive(self, guesses: Sequence[Guess], world: World) -> Sequence[Call]:
        """Put down nothing: codes are tried by request."""
        return ()

    def plan(self, request: Request, world: World) -> Sequence[Call]:
        """Show the parcel or the person that the request is about."""
        if request.tool == TELL and request.arguments["table"] == "people":
            return [Call("show_person", {"person_id": request.arguments["key"]})]
        if "parcel_id" in request.arguments:
            return [Call("find_parcel", {"parcel_id": request.arguments["parcel_id"]})]
        return ()

    def remedy(self, finding: Finding, request: Request, world: World, contact: Contact) -> Remedy | None:
        """Offer no cure: both rules are final in a contact."""
        return None

    def enact(self, finding: Finding, request: Request, world: World) -> Sequence[Call]:
        """Refer what must be referred."""
        if finding.outcome is not Outcome.ESCALATE:
            return ()
        arguments = {"reason_code": finding.reason_code, "rule_id": finding.rule_id, "summary": "Codes were guessed."}
        return [Call("escalate", arguments)]

    def react(self, world: World) -> Sequence[Call]:
        """Answer nothing: the counter never waits on the caller."""
        return ()
