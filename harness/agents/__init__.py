"""Agents: those who are measured, and the four reference agents that bracket every scenario."""
