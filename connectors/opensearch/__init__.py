"""A logbook in OpenSearch: read only, but for `copilot logbook import`.

Start reading at `book.py`; `searches.py` says how every question travels, `answers.py` what makes
an answer incomplete.
"""

from connectors.opensearch.book import OpenSearchLogbook, Outside
from connectors.opensearch.reach import reach
from connectors.opensearch.site import Basic, Bearer, Login, Patience, Signed, Site, Told

__all__ = [
    "Basic", "Bearer", "Login", "OpenSearchLogbook", "Outside", "Patience", "Signed", "Site",
    "Told", "reach",
]  # fmt: skip
