"""Entry points: they read options, put the parts together and run them.

Nothing else imports this room.
"""

import warnings

# Libraries that could also be used with eventlet import it where it is installed; nobody here uses it.
warnings.filterwarnings("ignore", message=r"\s*Eventlet is deprecated")
