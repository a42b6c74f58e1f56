"""Run the compute services of many hosts in one process: ``run_computes.py FOLDER HOSTS AFTER OPTION...``.

HOSTS is a JSON file with the size of each host and the duration of its steps; AFTER is a file to wait for. Each host
that is ready creates a file with its name in the folder ``ready``.
"""

from __future__ import annotations

import importlib
import json
import shlex
import sys
from pathlib import Path

# This has to be the first import from OpenStack: it chooses between threads and eventlet. It also imports most of what
# is needed here.
from nova.cmd import compute
from nova.virt import fake
from oslo_service import service as oslo_service

CONF = compute.CONF


def main() -> None:
    """Run until killed."""
    folder, hosts_file, after = (Path(word) for word in sys.argv[1:4])
    sys.argv = ["nova-compute", *sys.argv[4:]]
    # These modules are in the folder of this file.
    importlib.import_module("quick_replies").patch()
    readiness = importlib.import_module("readiness")
    readiness.announce(folder / "ready")
    lab_driver = importlib.import_module("lab_driver")
    # Nova takes drivers only from its own modules: compute_driver = fake.LabDriver.
    fake.LabDriver = lab_driver.LabDriver
    fake.LabDriver.configure(hosts_file, folder)
    _set_up()
    # Nova only requires the file; the driver itself knows the identities of its nodes.
    (folder / "compute_id").write_text(lab_driver.node_uuid("identity"))
    hosts = list(json.loads(hosts_file.read_text()))
    # Otherwise the first call to the conductor would wait ten seconds in vain.
    readiness.wait_for(after)
    launcher = oslo_service.ServiceLauncher(CONF, restart_method="mutate")
    # The launcher's own pool holds ten services, and silently starts no more.
    launcher.services.tg = type(launcher.services.tg)(len(hosts) + 10)
    for host in hosts:
        CONF.set_override("host", host)
        launcher.launch_service(
            compute.service.Service.create(
                binary="nova-compute",
                host=host,
                topic=compute.compute_rpcapi.RPC_TOPIC,
                topic_alt=compute.compute_rpcapi.RPC_TOPIC_ALT,
            )
        )
    launcher.wait()


def _set_up() -> None:
    """Do what ``nova.cmd.compute`` does before it starts its service."""
    compute.config.parse_args(sys.argv)
    compute.logging.setup(CONF, "nova")
    compute.priv_context.init(root_helper=shlex.split(compute.utils.get_root_helper()))
    compute.objects.register_all()
    compute.os_brick.setup(CONF)
    compute.os_vif.initialize()
    compute.nova.db.main.api.DISABLE_DB_ACCESS = True
    compute.objects_base.NovaObject.indirection_api = compute.conductor_rpcapi.ConductorAPI()
    compute.objects.Service.enable_min_version_cache()


if __name__ == "__main__":
    main()
