"""The logbook that needs no server: log files imported into one SQLite file.

Start reading at `book.py`; `store.py` says how entries are laid out and why.
"""

from connectors.embedded_logbook.book import EmbeddedLogbook
from connectors.log_files.batch import Imported, Refused
from connectors.log_files.reader import Assumptions

__all__ = ["Assumptions", "EmbeddedLogbook", "Imported", "Refused"]
