"""Serve a WSGI module of OpenStack: ``serve_wsgi.py MODULE PORT THREADS``."""

from __future__ import annotations

import importlib
import sys

from waitress import serve


def main() -> None:
    """Serve until killed."""
    module, port, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    # The services parse the command line themselves.
    sys.argv = [module]
    application = importlib.import_module(module).application
    # Imported late, because loaded modules affect Nova's choice between threads and eventlet.
    if "oslo_messaging" in sys.modules:
        importlib.import_module("quick_replies").patch()
    serve(
        application,
        host="127.0.0.1",
        port=port,
        threads=threads,
        ident=None,
        channel_timeout=300,
        # Each compute service keeps a connection open, so the default limit of 100 would block the cloud.
        connection_limit=5000,
        asyncore_use_poll=True,
        clear_untrusted_proxy_headers=True,
    )


if __name__ == "__main__":
    main()
