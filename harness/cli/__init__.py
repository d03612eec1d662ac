"""The `fraudbench` command: it parses, calls one function, and turns the outcome into words and an exit status."""
