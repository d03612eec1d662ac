"""Relations between features: the language, its evaluator, feasibility of rows, and repair."""
