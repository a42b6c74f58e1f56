"""Entry points: they read options, put the parts together and run them.

No other package imports this one.
"""

import os
import warnings

# Libraries that support eventlet import it where it is installed, although this project does not use it.
# Its replacement of name resolution (greendns) alone takes a fifth of a program's loading time, and delays a failover.
os.environ.setdefault("EVENTLET_NO_GREENDNS", "yes")
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
