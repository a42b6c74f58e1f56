"""A small world in files, for tests of what reads it."""

from __future__ import annotations

WORLD = """[world]
seed = 7

[site north]
hosts = 2 CPU:100,Memory:1024
speed = 2
set = scheduling.suspension = none

[site south]   ; slower, and larger
hosts = 8 CPU:100,Memory:1024
can-hold = no

[gateway entry]
members = north, south:2
allocation = round-robin
answer-time = 40
workload = small.lwf
"""

_NODES = """<nodes><node-set numnodes="{count}"><res type="CPU" amount="100"/><res type="Memory" amount="1024"/>
  </node-set></nodes>"""

LWF = f"""<lease-workload name="small"><lease-requests>
  <lease-request arrival="00:00:00"><lease id="1" preemptible="true">{_NODES.format(count=2)}
    <start/><duration time="01:00:00"/><software><none/></software></lease></lease-request>
  <lease-request arrival="00:10:00"><lease id="2" preemptible="true">{_NODES.format(count=1)}
    <start/><duration time="00:10:00"/><software><none/></software></lease></lease-request>
  <lease-request arrival="00:20:00"><lease id="3" preemptible="false">{_NODES.format(count=3)}
    <start><exact time="01:00:00"/></start><duration time="00:10:00"/><software><none/></software></lease>
  </lease-request>
</lease-requests></lease-workload>
"""
