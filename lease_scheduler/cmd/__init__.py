"""Entry points: they read options, put the parts together and run them.

Nothing else imports this room.
"""

import os
import warnings

# Libraries that could also be used with eventlet import it where it is installed; nobody here uses it.
# Its name service alone takes a fifth of the time in which a program is loaded, and so of a failover.
os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
