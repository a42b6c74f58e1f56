"""The experiments of the dissertations: what is run, what came out there, and what has to come out here.

One module per family of runs; ``campaign`` runs cases in parallel and ``checks`` holds figures against bands.
"""
