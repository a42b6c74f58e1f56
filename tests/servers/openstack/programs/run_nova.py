"""Run a service of Nova: ``run_nova.py SERVICE FOLDER OPTION...``; SERVICE is ``conductor`` or ``scheduler``.

When the service is ready, it creates a file with the name of its host in the folder.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path


def main() -> None:
    """Run until killed."""
    service, folder = sys.argv[1], Path(sys.argv[2])
    # Nova takes its own name from the name of the program.
    sys.argv = [f"nova-{service}", *sys.argv[3:]]
    module = importlib.import_module(f"nova.cmd.{service}")
    # Both modules are in the folder of this file.
    importlib.import_module("quick_replies").patch()
    importlib.import_module("readiness").announce(folder)
    module.main()


if __name__ == "__main__":
    main()
