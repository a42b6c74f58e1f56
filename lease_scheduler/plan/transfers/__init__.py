"""Disk images: when they are brought to hosts, and what hosts keep of them (haizea F60-F68; Sotomayor 2010, chapter 6).

Plain values and functions of them; the plan holds one value of ``images.ImagePlan`` and replaces it.
"""
