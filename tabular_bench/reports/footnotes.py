"""What a reader of a table must know: where the released code and the text of the publication disagree, and marks."""

from __future__ import annotations

from typing import Final

CAPGD: Final = (
    "Published as CAPGD, the released code runs plain PGD: a uniform start, a fixed step of a quarter of epsilon, ten "
    "steps, no momentum, no step halving, no constraint loss. `published_capgd` is that; `capgd` is the adaptive one."
)
BOTH_ATTACKED: Final = (
    "(both): rows of both classes are attacked, so that the number shows how far the ranking can be turned round. "
    "(fraud): fraud alone is hidden. The published attack moves both."
)
CLIPPED: Final = (
    "Protocol A is described as without any constraint; the released code clips each step to the range of the training "
    "rows. Preset `published` does so, preset `strict` does not."
)
READING_OF_B: Final = (
    "Protocol B is described as scoring the feasible rows. The released code turns infeasible rows back to their clean "
    "form and scores all of them, and its feasibility of B is that of rows so turned back. Preset `published` scores "
    "as the code does, preset `strict` as the text says; our feasibility of B is that of the attacked rows, as under "
    "A. Fraud that is left out makes fraud rarer: such a PR-AUC has another floor and is not comparable with that of A."
)
FLIPPED: Final = (
    "Published flips are caught fraud (score at least one half) that is no longer caught. Preset `strict` counts every "
    "attacked row that was classified rightly, at the threshold of the detector."
)
BLOCKS: Final = (
    "Published feasibility looks at the one-hot blocks that the catalogue of the released code names (LCLD: only the "
    "term) and tolerates 0.10 dollars in the instalment; fractional values of other blocks count as feasible. Preset "
    "`strict` wants every block valid."
)
NO_SWITCHES: Final = (
    "Under the published C1 and C2 no category can change at an epsilon of 0.1: the largest entry of a block stays "
    "the largest. Preset `strict` switches categories, within a budget of its own."
)
INSTALMENT: Final = (
    "In the published C2 the instalment counts as immutable and is computed anew all the same; under C1 and C2 it may "
    "leave the ball. In preset `strict` a derived column moves only as its sources imply, and never out of the ball."
)
COUNTS: Final = (
    "Published counts are of all test rows (CCFD 5,697; IEEE-CIS 11,811; LCLD 26,820; Sparkov 37,048), ours of the "
    "attacked ones: compare shares where these differ."
)
FSR: Final = (
    "Filtered success rate: feasible flips / flips, blank without a flip. Ours is the mean of the rates of the seeds; "
    "its published value for C1 on LCLD, 0.732, is so too, the ratio of the mean counts is 0.728."
)
SQUARE: Final = (
    "The released code gives rows to an attack on images: the last row and column of each padded image are never "
    "chosen again, one random square serves a whole batch, and a hundred iterations ask 147 to 189 times a row. "
    "`square` draws columns for every row by itself and asks once an iteration."
)
HOPSKIPJUMP: Final = (
    "The released code never gives its epsilon to HopSkipJump: the published numbers are those of an attack without a "
    "ball. Ours ends in the ball of the setting."
)
DEFENCES: Final = (
    "Published adversarial training is against three steps of PGD without a random start. Published input validation "
    "clips to the range of the training rows and then to three deviations: `clip` here; `reject` is stricter."
)
ENSEMBLE: Final = (
    "The published ensemble column is printed under the protocol of its row, but its numbers are a transfer under "
    "Protocol A: the released records show an attack on the network that is a member of the ensemble, given to the "
    "ensemble."
)
DROP: Final = "Drop: (robust - clean) / clean, per seed, then averaged."
TIME: Final = "Seconds are those of the attack on whatever machine ran it; published and ours are no comparison."
TRANSFER: Final = "a transfer under Protocol A from the network that is a member of the ensemble, not an attack on it"
RANKING: Final = (
    "Models are ranked by the mean robust PR-AUC over seeds. top-bottom reversal: first and last change places; top "
    "change: another model is first; lower-rank change: the order changes behind the first."
)
