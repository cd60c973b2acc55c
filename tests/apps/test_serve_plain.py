"""A request that is read at a glance is read as a parser of HTTP reads it."""

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from onmargin.apps.serve.plain import plain

BODY = b'{"examples": ["a"]}'
REQUEST = (
    b"POST /v1/models/m.1/predict HTTP/1.1\r\nHost: localhost:8700\r\nContent-Type: application/json\r\n"
    b"Connection: keep-alive\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)
TEXTS = [
    b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\x00", b"\xff", b"0", b"9", b"+", b"-", b"%2e", b"/", b"?a", b"close",
    b"1.0", b"\r\nContent-Length: 3", b"\r\nTransfer-Encoding: chunked", b"\r\nExpect: 100-continue",
    b"\r\nConnection: close", b"\r\nProxy-Connection: close", b"\r\nUpgrade: h2c\r\nX: y", b"\r\nHost: other",
    b"\r\nX-Y: z", b"\r\n folded: yes", b"\r\nX:y", b"\r\nX: y ", b"\r\nX:  y", b"\r\nX: ", b"GET", b"learn",
]  # fmt: skip
EDITS = st.lists(st.tuples(st.integers(0, len(REQUEST)), st.integers(0, 3), st.sampled_from([b"", *TEXTS])), max_size=3)


class Read:
    """What httptools finds."""

    def __init__(self, data):
        self.url, self.headers, self.body, self.complete = b"", [], b"", 0
        self.parser = httptools.HttpRequestParser(self)
        self.parser.feed_data(data)

    def on_url(self, url):
        self.url += url

    def on_header(self, name, value):
        self.headers.append((name.lower(), value))

    def on_body(self, body):
        self.body += body

    def on_message_complete(self):
        self.complete += 1
        self.kept = self.parser.should_keep_alive(), self.parser.should_upgrade()


def check(data):
    found = plain(data)
    if found is None or found.end > len(data):
        return None
    read = Read(data[: found.end])
    assert read.complete == 1
    assert (read.parser.get_method(), read.parser.get_http_version(), read.kept) == (b"POST", "1.1", (True, False))
    assert read.url == f"/v1/models/{found.name}/predict".encode()
    assert read.headers == list(found.headers.items())
    assert read.body == data[found.begin : found.end]
    return found


@given(EDITS)
def test_as_a_parser_reads_it(edits):
    data = REQUEST
    for begin, n, text in edits:
        data = data[:begin] + text + data[begin + n :]
    check(data)


@pytest.mark.parametrize("where", [b"\r\nHost", b"\r\n\r\n"])
@pytest.mark.parametrize("text", TEXTS)
def test_all_that_can_be_put_before_a_line(where, text):
    check(REQUEST.replace(where, text + where))


def test_what_is_plain():
    found = check(REQUEST + REQUEST)
    assert (found.name, found.end) == ("m.1", len(REQUEST))
    assert plain(REQUEST[:-1]) is not None
    for old, new in (
        (b"Content-Length: 19", b"Content-Length: 65537"),
        (b"keep-alive", b"close"),
        (b"Host: localhost:8700", b"Transfer-Encoding: chunked"),
        (b"Host: localhost:8700", b"Expect: 100-continue"),
        (b"Host: ", b"Content-Length: "),
        (b"\r\n\r\n", b"\r\n"),
    ):
        assert plain(REQUEST.replace(old, new)) is None
