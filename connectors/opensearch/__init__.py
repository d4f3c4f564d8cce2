"""A logbook in OpenSearch: read only, but for `copilot logbook import`.

Start reading at `book.py`; `searches.py` says how every question travels, `answers.py` what makes
an answer incomplete.
"""

from connectors.opensearch.book import OpenSearchLogbook, Outside
from connectors.opensearch.site import Basic, Bearer, Patience, Signed, Site, Told, checked_index

__all__ = [
    "Basic", "Bearer", "OpenSearchLogbook", "Outside", "Patience", "Signed", "Site", "Told",
    "checked_index",
]  # fmt: skip
