"""Settings into logbooks: each opened as its kind says, with its secrets from the environment.

The secrets of an OpenSearch called `prod` are OPENSEARCH_PROD_PASSWORD (basic), _TOKEN (bearer),
_KEY_ID, _KEY and perhaps _SESSION_TOKEN (sigv4); or the files that those names with _FILE name.
"""

from collections.abc import Mapping
from typing import TypeAlias

from connectors.embedded_logbook import EmbeddedLogbook
from connectors.opensearch import (
    Basic,
    Bearer,
    Login,
    OpenSearchLogbook,
    Patience,
    Signed,
    Site,
    Told,
)
from connectors.templates import DEFAULT_MASKS
from copilot.credentials import secret
from copilot.errors import CredentialsError
from copilot.settings.logbook import EmbeddedLogbookSource, OpenSearchLogbookSource

AnyLogbook: TypeAlias = EmbeddedLogbook | OpenSearchLogbook


def open_logbook(
    source: EmbeddedLogbookSource | OpenSearchLogbookSource, environ: Mapping[str, str]
) -> AnyLogbook:
    """The logbook that *source* describes; nothing is asked of a server yet.

    Raises CredentialsError when its secret is not set.
    """
    masks = (*((mask.name, mask.pattern) for mask in source.masks), *DEFAULT_MASKS)
    if isinstance(source, EmbeddedLogbookSource):
        return EmbeddedLogbook(source.path, name=source.name, masks=masks)
    return OpenSearchLogbook(site_of(source, environ), name=source.name, masks=masks)


def site_of(source: OpenSearchLogbookSource, environ: Mapping[str, str]) -> Site:
    """Where that OpenSearch is and how it is spoken to. Raises CredentialsError."""
    said = source.fields
    return Site(
        url=source.url,
        indices=source.indices,
        login=_login(source, environ),
        msearch_only=source.proxy == "grafana",
        ca_file=source.ca,
        client_certificate=source.certificate,
        client_key=source.key,
        patience=Patience(
            connect_s=source.connect_timeout.total_seconds(),
            answer_s=source.timeout.total_seconds(),
        ),
        told=Told(
            time=said.time or "",
            time_unit=said.time_unit,
            message=said.message or "",
            level=said.level or "",
            source=said.source or "",
            line=said.line or "",
            keywords=said.keywords,
            searched=said.searched,
        ),
    )


def _login(source: OpenSearchLogbookSource, environ: Mapping[str, str]) -> Login:
    match source.auth:
        case "basic":
            return Basic(source.user, _needed(source, "PASSWORD", environ, is_password=True))
        case "bearer":
            return Bearer(_needed(source, "TOKEN", environ))
        case "sigv4":
            token = secret(_variable(source, "SESSION_TOKEN"), environ)
            return Signed(
                source.region,
                source.service,
                _needed(source, "KEY_ID", environ),
                _needed(source, "KEY", environ),
                token.reveal() if token else "",
            )
        case _:
            return None


def _needed(
    source: OpenSearchLogbookSource,
    what: str,
    environ: Mapping[str, str],
    *,
    is_password: bool = False,
) -> str:
    name = _variable(source, what)
    found = secret(name, environ, is_password=is_password)
    if found is None:
        raise CredentialsError(
            f"the logbook {source.name} needs {name} for auth: {source.auth}; set it, or name its "
            f"file in {name}_FILE"
        )
    return found.reveal()


def _variable(source: OpenSearchLogbookSource, what: str) -> str:
    return f"OPENSEARCH_{source.name.upper().replace('-', '_')}_{what}"
