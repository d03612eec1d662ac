"""Reports on recorded cells: tables beside the published ones, a verdict on each published finding, pictures.

=================  ======================================================================================
`published`        the values in print, and how their names map to ours
`cells`            records, indexed: what a table looks up, and why there is nothing
`document`         the report as a document: tables, values, footnotes, findings; what JSON holds
`building`         rows of values out of cells and published values
`footnotes`        where the released code and the text of the publication disagree
`descriptions`     Tables II to IV: data sets, coverage, protocols
`tables`           Tables V to VIII and X
`rankings`         Table IX: models in order
`findings`         whether the published findings hold in the cells
`report`           all of it from a list of records
`render`           a report as Markdown, CSV, JSON, or for a terminal
`plots`            bars of protocols, curves over epsilon, rankings of models; `drawing` is what they share
=================  ======================================================================================

Everything works from records alone, whatever grid they came from. A number that is not there is blank with a reason.
"""
