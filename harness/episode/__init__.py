"""An episode: its events, its limits, what participants see, and the environment that alone changes anything."""
