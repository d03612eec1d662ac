"""The attacks of the bench.

==================  ======================================================================================
`catalogue`         the mapping of names; an attack with its hyper-parameters from one line of text
`noise`             chance, to compare with
`steps`             along the gradient: once, several times, from random points
`capgd`             the same with momentum, a step that adapts, and the relations in its loss
`square`            random search by scores
`hopskipjump`       walks along the border of decisions
`moves`             what the gradient attacks share: geometry of ball and bounds,
`search`            trials that are asked about and kept where they are best,
`switching`         category switches in the order of what the gradient promises
`switch_options`    every category switch that there is
==================  ======================================================================================
"""
