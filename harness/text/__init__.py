"""Pure text work: normal forms, disclosure of protected values, and the reading of free-text replies."""
