"""Generators of rows that look like those of a real data set: same columns, types, prevalence, gaps and relations.

None of them has ever seen a real row. What is generated says so in every record and table.
"""
