"""The data sets: loaders for the real files, generators to their schemas, preparation, cache."""
