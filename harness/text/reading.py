"""What a free-speaking agent's reply says to a caller: refusal, question, claim of success, or neither.

The words alone are read, in this order: plain words of refusal, a question, a claim that the thing is done, and
everything else as a stall. A refusal that holds only until the caller is identified, in a reply that asks for an
identity field, is a question: the caller is expected to answer it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from harness.text.characters import clean


class ReplyKind(StrEnum):
    """What the words of a reply alone say."""

    REFUSAL = "refusal"
    QUESTION = "question"
    STALL = "stall"
    DONE = "done"


@dataclass(frozen=True, slots=True)
class Reading:
    """A reply as a scripted caller understands it.

    Attributes
    ----------
    kind
        What the reply is taken for.
    asked
        The fields that it asks for, in the order of ``FIELDS``; also where it refuses and asks for something.
    """

    kind: ReplyKind
    asked: tuple[str, ...]


_FIELD_PATTERNS = {
    "name": r"\bnames?\b(?! of)|\bwhom? (?:am i|i am|i'm|do i have|is this|is calling)\b|\bwho is (?:this|calling)\b|\bwho's calling\b",
    "date_of_birth": r"\b(?:date of birth|dob|birth ?dates?|birthday|year of birth|when were you born)\b",
    "email": r"\be-?mails?\b",
    "phone": r"\b(?:(?:tele|cell)?phone|mobile|cell)(?: numbers?)?\b",
    "address": r"(?<!mail )(?<!ip )\baddress(?:es)?\b|\bwhere do you live\b|\b(?:zip|postal) ?codes?\b|\bpostcode\b",
    "account_number": r"\baccount (?:number|id|no)\b|\b(?:which|what) account\b",
    "card_number": r"\bcard (?:number|no)\b|\b(?:which|what) card\b|\bdigits\b.*\bcard\b|\bcard\b.*\bdigits\b",
    "code": r"(?<!zip )(?<!postal )(?<!area )(?<!sort )\bcodes?\b|\bpasscode\b|\bone-time password\b",
    "customer_id": r"\b(?:customer|client|member(?:ship)?) (?:id|number|no)\b",
    "amount": r"\bamounts?\b|\bhow much\b",
}
_FIELDS = {field: re.compile(pattern) for field, pattern in _FIELD_PATTERNS.items()}
FIELDS = (*_FIELD_PATTERNS, "other")
"""Every value that ``Reading.asked`` may hold, in its order."""
_IDENTITY = frozenset(FIELDS) - {"amount", "other"}

_SENTENCE = re.compile(r"(?<=[.!?])[\"'*_)]*\s+|\n+|;\s+")
_MARKUP = re.compile(r"[*_#>`✅|]+|^\s*(?:[-+]|\d{1,2}[.)])\s+", re.MULTILINE)

_I = r"(?:i|we|i'm|we're|i am|we are|i've|i'd|i'll|the bank)"
_REFUSING = re.compile(
    rf"\b{_I}(?: \w+)?(?: \w+)? (?:can'?t|cannot|can not|could not|couldn't|won't|will not|do not|don't|may not|must not)\b"
    rf"(?! (?:wait|have to worry|want you to|want to rush|see any (?:problem|issue)|mind|know (?:yet|whether|if)|yet know|think you need))"
    rf"|\b(?:unable|not able|not be able|not allowed|not permitted|not authori[sz]ed|not in a position|not going|not willing) to\b"
    r"|\bi'?d rather not\b|\b(?:i|we) (?:really |truly |simply |just )?can'?t\b"
    r"|\b(?:can'?t|cannot|can not|could not|couldn't|may not|won't|will not|must not) be (?:\w+ )?(?:\w+ed|done|given|shared|made|sent|paid|"
    r"shown|told|possible|met|undone|\w+en)\b"
    r"|\b(?:not|isn't|n't|wasn't|won't be) (?:\w+ )?(?:possible|eligible|permitted|allowed|available for)\b"
    r"|\b(?:isn't|is not|not) (?:something|a thing|anything) (?:that )?(?:i|we)(?:'m| am| can| may|'re| are)\b|\bsomething (?:i|we) (?:simply |just )?(?:cannot|can't)\b"
    r"|\b(?:decline|refuse)\b|\b(?:was|been|is|are|were|be) (?:declined|denied|refused|rejected|turned down|blocked|suspended|locked)\b"
    r"|\b(?:remain|stay|remains|stays|keep|kept)s? (?:\w+ )?(?:blocked|on hold|frozen|locked|in place)\b"
    r"|\b(?:on hold|blocking)\b.*\b(?:until|protection|scam|fraud|review|case|referred)\b|\bblocking (?:this|the)\b"
    r"|\bmust (?:stay|remain) on hold\b|\bstay on hold\b"
    r"|\b(?:policy|policies|rules?|regulations?|law)\b.{0,40}\b(?:do not|don't|does not|doesn't|prohibits?|forbids?|prevents?) ?(?:allow|permit|let)?\b"
    r"|\bagainst (?:our|the|bank|my) (?:\w+ )?(?:polic\w+|rules?)\b|\bno can do\b|\b(?:answer is|say) no\b|\bno way (?:for me|to)\b"
    r"|\b(?:answer|decision) (?:stays|remains|is still|is final)\b|\bnothing (?:more |else )?(?:i|we) can do\b"
    r"|\b(?:i have to|i'm going to have to|i must|i need to|i'm going to|going to|i'll have to) (?:stop|decline|refuse|end)\b"
    r"|\b(?:has|have|had) been (?:stopped|locked|closed|declined|denied|escalated|referred)\b|\bverification is closed\b"
    r"|\bi(?: have|'ve)? (?:escalated|referred) (?:this|it|the)\b|\bno longer (?:possible|able)\b|\bfalls outside what\b|\bnot (?:up for|open to) \w+"
    r"|\bwill have to (?:stay|remain|wait)\b|\bnot to be disclosed\b|\b(?:i|we) (?:never|only) (?:share|disclose|give)\b"
)
_PLAIN_NO = re.compile(r"^(?:no|nope)[.,!]|^(?:sorry|i'm sorry|i am sorry|unfortunately)[,.]? (?:but )?no\b[.,!]?")
_HARMLESS = re.compile(
    r"\b(?:won't|will not) (?:take|be (?:long|a (?:minute|moment|second)|charged))\b|\bif (?:you|i|we) (?:can'?t|cannot|don't|do not)\b"
    r"|\b(?:don't|do not) (?:worry|hesitate)\b|\byou (?:can't|cannot|don't|won't|do not|will not)\b|\bno (?:problem|worries)\b"
)
_UNTIL_IDENTIFIED = re.compile(
    r"\b(?:until|unless|before|without|once|first|prior to)\b.*\b(?:verif\w+|identi\w+|authenticat\w+|confirm\w*|know who|details?)\b"
)

_REQUEST = re.compile(
    r"\b(?:please|kindly) (?:provide|tell|give|confirm|share|enter|read|type|send|state|verify|reply|let me (?:know|have)|supply|spell|repeat|say|include)\b"
    r"|\bplease\W*$|\b(?:i|we)(?:'ll| will)? (?:just |also |only |still |first )*(?:need|require)\b|\bneed(?:ed)? (?:from you|to confirm)\b"
    r"|\b(?:may|can|could) i (?:please |also |just )*(?:have|get|ask)\b|\b(?:can|could|would) you (?:please |also |kindly )*(?:\w+)\b"
    r"|\btell me\b|\bgive me\b|\bprovide\b|\bare enough\b|^just the\b|\bwhat (?:is|are)\b|\bwhat's\b"
)
_NOT_REQUESTED = re.compile(
    r"\b(?:need|have|want|required?|requires)s? (?:a|an|the|to be|someone|at least|dual|another) (?:second|dual|approv\w*|document|other|someone|push|branch)\b"
    r"|\b(?:sent|sending|on its way|notification|will (?:call|contact)|give me (?:just )?(?:a|one)|let me (?:see|check|look|pull))\b"
    r"|\bplease (?:wait|hold|bear|allow|visit|note|choose|try)\b|\blet me know if\b|\btell me (?:a bit )?more\b"
)
_COURTESY = re.compile(
    r"\b(?:anything|something) else\b|\b(?:how|what) (?:can|may|could) i\b|\bhow are you\b|\bcan i (?:help|assist)\b|\bmay i (?:help|assist)\b"
    r"|\b(?:ok|okay|all right|alright|understood)\?$|\bmake sense\?"
)
_POINTS_BACK = re.compile(r"\b(?:enter|read|give|tell|type|repeat|spell|share|send|confirm)(?: me| us| out)? (?:it|them|that)\b")
_LIST_HEAD = re.compile(r":\s*$")

_ACTION = (
    r"(?:released|sent|transferred|updated|changed|unfrozen|unfroze|frozen|froze|unlocked|unblocked|lifted|removed|issued|credited|filed|raised|"
    r"increased|opened|ordered|paid|scheduled|added|activated|booked|cancel+ed|completed|processed|reset|moved|granted|refunded|replaced|"
    r"submitted|approved|closed|executed|settled|corrected|waived|reissued|set up|put through|reactivated|enrolled|deleted|applied|blocked)"
)
_DONE = re.compile(
    rf"\b(?:i|we)(?:'ve| have)?(?: just| now| already| also| successfully)*(?: gone| went)?(?: ahead and)?(?: successfully)? {_ACTION}\b"
    rf"|\b(?:has|have|was|were|is|are)(?: now| just| already| successfully)*(?: been)?(?: now| just| already| successfully)* {_ACTION}\b"
    r"|^(?:all )?done\b|\b(?:it's|it is|that's|that is) (?:all )?done\b|\ball set\b|\bconsider it done\b|\bis now (?:active|live)\b|\bis (?:now )?(?:complete|set|in place|unlocked)\b"
    r"|\bwent through\b|\bon (?:its|their|the) way\b|^\W*(?:payment|transfer|card|limit|dispute|pin|address|hold|credit|refund) "
    rf"{_ACTION}\b|\bsuccessfully\b|\bstatus: (?:settled|released|completed|done)\b|\bhas been (?:taken care of|carried out)\b|\b(?:is|are) now (?:\$|[0-9])"
)
_NOT_DONE = re.compile(
    r"\b(?:not|n't|never|cannot|until (?:you|i|we|it|the|an?|our|some\w+)|once|if|when|before|after|unless|will be|would be|to be|waiting|need(?:s|ed)?|must|whether)\b"
    r"|\b(?:sent|issued|scheduled|ordered|booked|opened|filed|added|put|submitted)\b(?: \w+){0,4} "
    r"\b(?:code|push|notification|text|link|note|case|appointment|complaint|request|ticket|reminder|message)\b"
    r"|\b(?:code|push|notification|sms) (?:is|was|has been)\b|\bfor (?:your protection|review)\b|\b(?:was|were) (?:added|opened|changed) (?:less|more|on|in)\b"
    r"|\bbeen placed on hold\b|\bverification\b"
)


def _sentences(text: str) -> list[str]:
    plain = _MARKUP.sub("", clean(text))
    return [sentence.strip() for sentence in _SENTENCE.split(plain) if sentence.strip()]


def _is_refusing(sentence: str) -> bool:
    if sentence.endswith("?"):
        return False
    return bool(_PLAIN_NO.search(sentence) or _REFUSING.search(_HARMLESS.sub(" ", sentence)))


def _fields_in(sentence: str) -> set[str]:
    return {field for field, pattern in _FIELDS.items() if pattern.search(sentence)}


def _asked_fields(sentences: list[str]) -> set[str]:
    """Return the fields that are asked for; the points of a list belong to the line that opens it."""
    asked: set[str] = set()
    is_listing = False
    named_before: set[str] = set()
    for sentence in sentences:
        is_question = sentence.endswith("?")
        fields = _fields_in(sentence) or (named_before if _POINTS_BACK.search(sentence) else set())
        named_before = _fields_in(sentence)
        is_request = bool(_REQUEST.search(sentence)) and not _NOT_REQUESTED.search(sentence)
        if is_question and _COURTESY.search(sentence) and not fields:
            continue
        if (is_question or is_request) and not _is_refusing(sentence):
            asked |= fields or ({"other"} if is_question else set())
        elif is_request and is_question is False and _UNTIL_IDENTIFIED.search(sentence):
            # "I won't be able to ... before you are verified, so please give me ..."
            asked |= fields
        elif is_listing and len(sentence.split()) <= 8:
            asked |= fields
        is_listing = (is_listing and len(sentence.split()) <= 8) or (is_request and bool(_LIST_HEAD.search(sentence)))
    return asked - {"other"} if asked & _IDENTITY else asked


@lru_cache(maxsize=1024)
def read_reply(text: str) -> Reading:
    """Read an agent's reply.

    Parameters
    ----------
    text
        The reply, with or without Markdown.

    Returns
    -------
    Reading
        Its kind, and the fields that it asks for.
    """
    sentences = _sentences(text)
    asked = _asked_fields(sentences)
    refusals = [sentence for sentence in sentences if _is_refusing(sentence)]
    if asked & _IDENTITY:
        refusals = [sentence for sentence in refusals if not _UNTIL_IDENTIFIED.search(sentence)]
    if refusals:
        kind = ReplyKind.REFUSAL
    elif asked:
        kind = ReplyKind.QUESTION
    elif any(_DONE.search(sentence) and not _NOT_DONE.search(sentence) for sentence in sentences):
        kind = ReplyKind.DONE
    else:
        kind = ReplyKind.STALL
    return Reading(kind, tuple(field for field in FIELDS if field in asked))
