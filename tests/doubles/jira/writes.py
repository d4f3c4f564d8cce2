"""What was written: comments and remote links. An empty text node is refused, as Jira does."""

from dataclasses import dataclass, field

from tests.doubles.jira.answers import Refusal
from tests.doubles.jira.connection import Answer, Received
from tests.doubles.jira.site import Issue, Json, Remark, Site


@dataclass(slots=True)
class Written:
    """Remote links by issue and global id; comments go to their issue."""

    links: dict[tuple[str, str], Json] = field(default_factory=dict)

    def answer(
        self, site: Site, received: Received, target: tuple[str, str | None, str | None]
    ) -> Answer:
        """Do what was asked, or raise Refusal."""
        key, part, number = target
        issue = site.find(key)
        if issue is None:
            raise Refusal(404, "Issue does not exist or you do not have permission to see it.")
        match received.method, part:
            case "POST", "comment":
                issue.comments.append(Remark(_checked(site, received.body["body"]), "Copilot"))
                return Answer(201, {"id": str(len(issue.comments))}, {})
            case "PUT", "comment":
                _replace(site, issue, number, received.body["body"])
                return Answer(200, {"id": number}, {})
            case "POST", "remotelink":
                self.links[issue.key, received.body["globalId"]] = received.body["object"]
                return Answer(201, {"id": len(self.links)}, {})
        raise Refusal(405, "null for uri")


def _replace(site: Site, issue: Issue, number: str | None, body: object) -> None:
    index = int(number or 0) - 1
    if not 0 <= index < len(issue.comments):
        raise Refusal(404, "Can not find a comment for the id.")
    issue.comments[index] = Remark(_checked(site, body), "Copilot")


def _checked(site: Site, body: object) -> str | Json:
    """The body as it is kept: v3 takes documents, v2 text. Raises Refusal."""
    if isinstance(body, str) and not site.is_cloud and body:
        return body
    if isinstance(body, dict) and site.is_cloud and body.get("type") == "doc" and _is_sound(body):
        return body
    raise Refusal(400, "Comment body is not valid!")


def _is_sound(node: Json) -> bool:
    if node.get("type") == "text":
        return bool(node.get("text"))
    return all(_is_sound(inside) for inside in node.get("content", []))
