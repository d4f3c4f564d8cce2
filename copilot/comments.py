"""Drafts of the outbox as comments on a Jira: the body, the post, and the link back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from connectors.jira_tracker import JiraTracker, OwnComment, put_comment, put_link
from copilot.errors import NotFoundError, UsageError
from copilot.outbox import Draft, Posted, comment_text, mark_of
from copilot.settings import Source
from copilot.settings.jira import JiraSource
from copilot.trackers import AnyTracker
from copilot.values import Json


@dataclass(frozen=True, slots=True)
class Link:
    """A remote link of a ticket; `mark` is its global id, one for each incident."""

    mark: str
    url: str
    title: str


@dataclass(frozen=True, slots=True)
class JiraComments:
    """The comments of the copilot on one site. *page* is where an incident can be read."""

    tracker: JiraTracker
    page: str = ""

    @property
    def is_cloud(self) -> bool:
        """Which of the two bodies is sent; the site may be asked. Raises ConnectorError."""
        return self.tracker.api.is_cloud

    def body(self, draft: Draft) -> Json:
        """Exactly what would be sent: an ADF document, or wiki text. Raises ConnectorError."""
        return _comment(draft).body(is_cloud=self.is_cloud)

    def link(self, draft: Draft) -> Link | None:
        """The link that goes with the comment, or None where no page is configured."""
        if not self.page:
            return None
        return Link(
            mark_of(draft.incident),
            self.page.replace("{incident}", draft.incident),
            f"Operations copilot: {draft.incident}",
        )

    def post(self, draft: Draft) -> Posted:
        """Bring comment and link to what the draft says; done twice, it changes nothing.

        Raises NotFoundError for a ticket that cannot be seen, as one that moved out of the
        projects, and ConnectorError.
        """
        if self.tracker.ticket(draft.key, frozenset()) is None:
            raise NotFoundError(
                f"there is no ticket {draft.key} in {self.tracker.name}, or it may not be seen; "
                "nothing was posted"
            )
        api = self.tracker.api
        written = put_comment(api, _comment(draft))
        if link := self.link(draft):
            put_link(api, draft.key, link.mark, link.url, link.title)
        return Posted(written.id, written.done)


def places_of(sources: Sequence[Source | JiraSource]) -> dict[str, tuple[str, ...]]:
    """The projects of each tracker that comments may be written to."""
    return {
        source.name: source.projects
        for source in sources
        if isinstance(source, JiraSource) and source.write
    }


def comments_for(
    sources: Sequence[Source | JiraSource], trackers: Mapping[str, AnyTracker], name: str
) -> JiraComments:
    """The comments of that tracker. Raises UsageError where none may be written."""
    for source in sources:
        tracker = trackers.get(source.name)
        if source.name == name and isinstance(source, JiraSource) and source.write:
            assert isinstance(tracker, JiraTracker)
            return JiraComments(tracker, source.incident_page)
    raise UsageError(f"comments are not written to {name!r}; set `write: true` there to allow it")


def _comment(draft: Draft) -> OwnComment:
    return OwnComment(draft.key, comment_text(draft), mark_of(draft.incident))
