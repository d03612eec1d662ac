"""Reports: what the grades of a run come to, as numbers and as tables."""
