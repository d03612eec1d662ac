"""The detectors of the bench: trained here, trivial ones to compare with, and one's own.

======================  ======================================================================
`training`              what a detector is trained on, and the checks that all of them share
`logistic`, `forest`,   one model each: a function that trains it, a class that scores; trees,
`boosting`, `network`,  weights and members are plain arrays
`ensemble`
`validated`             a detector behind a check of its input
`trivial`               never, always, at random, largest amount first
`models`                the mapping of names; `threshold` turns scores into decisions
`guard`                 flags what only looks robust
`storage`               detectors as files of arrays
`own`                   ``package.module:factory``, and XGBoost files
======================  ======================================================================
"""
