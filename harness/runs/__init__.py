"""Runs: many episodes under one resolved configuration, kept in one folder."""
