"""The state of a site while its engine leads, and the transactions that change it together with the store.

``transactions`` opens them, ``unit_of_work`` collects what is written, and ``restoring`` builds the state anew.
"""
