"""A detector and a table of the user's own: read, checked against each other, measured and attacked.

`table` reads the table, `ready` the detector, `columns` brings them together by the names of columns, `run` measures.
Nothing is trained here, and every row of the table is a test row.
"""
