"""Callers: those who try the agent."""
