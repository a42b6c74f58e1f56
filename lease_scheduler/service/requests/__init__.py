"""Operations that tenants, administrators and operators request, and reactions to what a driver observes.

Answers are plain values that fit into JSON.
"""
