"""`fraudbench tabular`: fraud detectors over tables, and attacks on them."""
