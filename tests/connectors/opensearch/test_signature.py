"""AWS Signature Version 4 against the vectors that AWS published with it (aws4_testsuite)."""

from datetime import UTC, datetime

import pytest

from connectors.opensearch.signature import canonical, signed_headers
from connectors.opensearch.site import Signed

KEY = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
LOGIN = Signed("us-east-1", "service", "AKIDEXAMPLE", KEY)
THEN = datetime(2015, 8, 30, 12, 36, tzinfo=UTC)
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize(
    ("method", "target", "signature"),
    [
        ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        ("GET", "/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
    ],
    ids=["get-vanilla", "post-vanilla", "get-vanilla-query-order-key-case"],
)  # fmt: skip
def test_a_published_vector_is_signed_alike(method: str, target: str, signature: str) -> None:
    headers = signed_headers(LOGIN, method, f"https://example.amazonaws.com{target}", b"", THEN)

    assert headers["authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders=host;x-amz-date, Signature={signature}"
    )


def test_the_example_of_the_guide_is_signed_alike() -> None:
    """Source: docs.aws.amazon.com, "Create a signed AWS API request", IAM ListUsers."""
    headers = {
        "content-type": "application/x-www-form-urlencoded; charset=utf-8",
        "host": "iam.amazonaws.com",
        "x-amz-date": "20150830T123600Z",
    }

    text = canonical("GET", "/", "Action=ListUsers&Version=2010-05-08", headers, EMPTY)

    assert text == (
        "GET\n/\nAction=ListUsers&Version=2010-05-08\n"
        "content-type:application/x-www-form-urlencoded; charset=utf-8\n"
        "host:iam.amazonaws.com\nx-amz-date:20150830T123600Z\n\n"
        f"content-type;host;x-amz-date\n{EMPTY}"
    )


def test_the_serverless_service_gets_the_digest_and_a_session_its_token() -> None:
    login = Signed("eu-west-1", "aoss", "AKID", "key", "session")

    headers = signed_headers(login, "POST", "https://x.example/_msearch", b"body", THEN)

    signed = "host;x-amz-content-sha256;x-amz-date;x-amz-security-token"
    assert f"SignedHeaders={signed}," in headers["authorization"]
    assert headers["x-amz-security-token"] == "session"


def test_a_star_in_a_path_is_signed_encoded() -> None:
    text = canonical("GET", "/app-*/_field_caps", "fields=%2A", {"host": "x"}, EMPTY)

    assert text.startswith("GET\n/app-%2A/_field_caps\nfields=%2A\n")
