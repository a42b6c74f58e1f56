"""Commands to shelve a server, and what is done where Nova refuses them."""

from __future__ import annotations

import logging
from typing import Any

from novaclient.exceptions import ClientException

from lease_scheduler.cloud.nova.api import server as of

LOG = logging.getLogger(__name__)

#: Characters of a name to which Nova can add "-shelved" for the image: Glance takes 255.
_LONGEST_NAME = 255 - len("-shelved")

#: Answers of Nova with which it will not shelve the server, however often it is asked. It answers 500 where Glance does
#: not take the image, for example because of its properties, which come from the image that the project has booted.
_REFUSALS = frozenset({400, 403, 413, 500})


class Shelving:
    """Shelves servers.

    :param nova: novaclient's client with administrator rights
    """

    def __init__(self, nova: Any) -> None:
        self._nova = nova

    def shelve(self, server: Any) -> bool:
        """Tell Nova to shelve a server, or to offload one that is shelved. Return False if Nova refuses."""
        servers = self._nova.servers
        if server.status == of.SHELVED:
            return of.command(servers.shelve_offload, server)
        name = str(getattr(server, "name", ""))
        is_renamed = len(name) > _LONGEST_NAME
        try:
            if is_renamed:
                # Nova reads the name while it answers. Names are not protected by locks.
                LOG.info("server %s gets a shorter name while it is shelved: %s", server.id, name)
                servers.update(server, name=name[:_LONGEST_NAME])
            servers.shelve(server)
        except ClientException as error:
            if of.is_gone_or_busy(error):
                return True
            if error.code not in _REFUSALS:
                raise
            LOG.warning("Nova refuses to shelve server %s: %s", server.id, error)
            return False
        finally:
            if is_renamed:
                of.command(lambda each: servers.update(each, name=name), server)
        return True
