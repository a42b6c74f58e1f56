"""Ask for two nodes, take them at the price that was quoted, and wait until they run."""

import openstack

connection = openstack.connect(cloud="example")
reservation = connection.reservation
terms = {
    "name": "course",
    "kind": "immediate",
    "duration": "2h",
    "nodes": [{"count": 2, "resources": {"VCPU": 1, "MEMORY_MB": 512, "DISK_GB": 1}}],
}
quote = reservation.create_quote(**terms)
if not quote.is_granted:
    raise SystemExit(f"no: {quote.reason}; possible are {quote.alternatives}")
if quote.price is not None:
    terms["max_price"] = quote.price
lease = reservation.create_lease(**terms)
lease = reservation.wait_for_lease(lease, "active", interval=1)
lease = reservation.extend_lease(lease, by="30m")
for each in reservation.lease_history(lease):
    print(each["time"], each["to"], each["reason"])
print(f"{lease.id} runs until {lease.end_date}")
