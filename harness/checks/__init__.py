"""Checks of scenarios: what `fraudbench tasks check` runs before a scenario is admitted."""
