"""Harbourline Bank: a fictional retail and business bank, its records, tools and rules."""
