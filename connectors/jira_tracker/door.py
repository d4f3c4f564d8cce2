"""The only door to the `jira` package: one request out, one reply in, nothing decided.

The package makes the session (account, headers, certificates). Its own request loop is not used:
it sleeps up to a minute where nobody can see it, fails on a Retry-After that is a date, waits less
than it was told when told more than a minute, and fails on an error body that is not an object. A
request is sent through `Session.send`, which that loop does not touch, and there are no redirects:
an account's secret never follows one.
"""

import json
from http.cookiejar import DefaultCookiePolicy
from time import monotonic
from typing import Any

import requests
from jira import JIRA
from urllib3.exceptions import HTTPError, ReadTimeoutError

from connectors.jira_tracker.replies import Ask, NoReply, Reply
from connectors.jira_tracker.site import JiraSite

LARGEST_BODY = 8 * 1024 * 1024
PIECE = 64 * 1024


class Door(JIRA):
    """The `jira` package's client, opened without asking the site anything."""

    def __init__(self, site: JiraSite, token: str) -> None:
        options = {"verify": str(site.ca_file) if site.ca_file else True, "check_update": False}
        super().__init__(
            site.url,
            options=options,
            basic_auth=(site.user, token) if site.user and token else None,
            token_auth=token if token and not site.user else None,
            get_server_info=False,
            max_retries=0,
            logging=False,
            timeout=(site.connect_s, site.read_s),
        )
        self._site = site
        self._session.trust_env = False  # no proxy, no netrc and no certificates from outside
        if site.proxy:
            self._session.proxies["https"] = site.proxy
        self._session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))

    def send(self, ask: Ask) -> Reply:
        """The reply, whatever its status. Raises NoReply when none came whole."""
        ca_file = self._site.ca_file
        if ca_file and not ca_file.is_file():
            raise NoReply(f"{ca_file} is no file of certificates; mend its `ca`", again=False)
        prepared = self._session.prepare_request(
            requests.Request(
                ask.method,
                f"{self._site.url}/rest/api/{ask.path}",
                params=dict(ask.params),
                data=None if ask.body is None else json.dumps(ask.body),
            )
        )
        try:
            with self._session.send(
                prepared,
                stream=True,
                allow_redirects=False,
                verify=self._session.verify,
                timeout=(self._site.connect_s, self._site.read_s),
            ) as response:
                body = self._body(response)
                return Reply(response.status_code, dict(response.headers), body)
        except requests.exceptions.SSLError as error:
            raise NoReply(
                f"its certificate was not accepted ({_root(error)})", again=False
            ) from None
        except requests.exceptions.ConnectTimeout:
            raise NoReply(f"no connection within {self._site.connect_s:g} s") from None
        except (requests.exceptions.Timeout, ReadTimeoutError):
            raise NoReply(f"no answer within {self._site.read_s:g} s") from None
        except (requests.exceptions.RequestException, HTTPError, OSError) as error:
            raise NoReply(f"the connection failed ({_root(error)})") from None

    def _body(self, response: Any) -> bytes:
        """The decoded body, read in pieces so that neither its size nor its pace is unbounded."""
        until = monotonic() + self._site.whole_s
        body = bytearray()
        response.raw.decode_content = True
        while piece := response.raw.read1(PIECE):
            body += piece
            if len(body) > LARGEST_BODY:
                raise NoReply(f"the answer has over {LARGEST_BODY >> 20} MiB", again=False)
            if monotonic() > until:
                raise NoReply(f"the answer took over {self._site.whole_s:g} s")
        return bytes(body)


def _root(error: BaseException) -> str:
    """The innermost cause by its class: texts of these errors hold addresses and objects."""
    while isinstance(inner := error.__cause__ or error.__context__, Exception):
        error = inner
    text = getattr(error, "strerror", None) or getattr(error, "verify_message", None)
    return str(text or type(error).__name__)
