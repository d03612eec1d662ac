"""Reports on recorded cells: tables beside the published ones, a verdict on each published finding, pictures.

=================  ======================================================================================
`published`        the values in print, and how their names map to ours
`cells`            records, indexed: what a table looks up, and why there is nothing
`document`         the report as a document: tables, values, footnotes, findings; what JSON holds
`building`         rows of values out of cells and published values
`descriptions`     Tables II to IV: data sets, coverage, protocols
`tables`           Tables V to X
`findings`         whether the published findings hold in the cells
`report`           all of it from a list of records
`render`           a report as Markdown, CSV, JSON, or for a terminal
`plots`            bars of protocols, curves over epsilon, rankings of models
=================  ======================================================================================

Everything works from records alone, whatever grid they came from. A number that is not there is blank with a reason.
"""
