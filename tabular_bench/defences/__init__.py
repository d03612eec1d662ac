"""The defences of the bench: `catalogue` has their names, the other modules one kind each."""
