"""The corpus of policy documents, and how an agent finds its way in it."""
