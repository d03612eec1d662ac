"""Harbourline Bank: a fictional retail and business bank, its records, tools and rules.

`tables` are what it keeps, `tools` what the desk and the customer's app can do, `rules` what the written policy
demands, `cast` how scenarios bring people and accounts of their own, `base` the customers who are there anyway.
"""

from __future__ import annotations

from domains.banking.assembly import domain

__all__ = ["domain"]
