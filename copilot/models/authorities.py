"""Who may vouch for the model's site."""

import ssl
from pathlib import Path

from copilot.errors import ConfigError


def trusted(file: Path | None) -> ssl.SSLContext | bool:
    """What the authorities in *file* vouch for; without one, True: those that the SDK brings.

    Raises ConfigError for a file that holds none.
    """
    try:
        return ssl.create_default_context(cafile=file) if file else True
    except OSError as error:  # an SSLError too
        raise ConfigError(
            f"{file}: no certificates can be read ({error.strerror or error}); "
            "mend model.ca, a file in PEM form"
        ) from None
