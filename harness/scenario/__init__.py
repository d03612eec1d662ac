"""Scenarios: the file format, twins, templates, and the instances that are drawn from them."""
