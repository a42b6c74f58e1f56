"""Disk images: when they are transferred to hosts, and which of them hosts keep.

Sotomayor 2010, chapter 6 (haizea F60-F68). Values are immutable; the plan holds an ``images.ImagePlan`` and replaces
it.
"""
