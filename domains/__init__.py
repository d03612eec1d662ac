"""Domains: worlds that an agent and a caller act on. `kit` is what every domain is built from."""
