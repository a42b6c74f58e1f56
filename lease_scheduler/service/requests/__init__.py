"""What the service does for tenants, administrators and operators, and when the cloud reports something of the pool.

Answers are plain values that fit into JSON.
"""
