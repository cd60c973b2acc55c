"""Requests in pieces, pipelined, slow, broken or too large get clear responses, and clients have limits."""

import re
import socket
from collections import Counter
from contextlib import suppress
from select import select
from types import SimpleNamespace

import pytest

import onmargin
from onmargin.apps.serve.limits import Limits
from onmargin.apps.serve.protocol import Guarded
from onmargin.apps.serve.tokens import Tokens, line
from tests.apps.serving import blocked, create, learn, records, served
from tests.waiting import LIMIT, wait_until

PAIRS = list(records(50))
ONE = b'{"examples": [{"x": {"f1": 1.5, "colour": "red"}}]}'
JSON = b"Content-Type: application/json"
LOCAL = b"Host: localhost"


def asked(body=ONE, *headers, name="m", last="predict", version="1.1", length=True):
    """Return the bytes of a request, by default with the headers that it needs."""
    lines = [b"POST /v1/models/%b/%b HTTP/%b" % (name.encode(), last.encode(), version.encode())]
    lines += headers or (LOCAL, JSON)
    lines += [b"Content-Length: %d" % len(body)] if length else []
    return b"\r\n".join([*lines, b"", body])


def chunked(body, size=20):
    parts = [body[k : k + size] for k in range(0, len(body), size)]
    encoded = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in [*parts, b""])
    return asked(encoded, LOCAL, JSON, b"Transfer-Encoding: chunked", length=False)


ARRIVED = Counter()  # bytes that services have received, by the port of the client


@pytest.fixture(autouse=True)
def count_bytes(monkeypatch):
    own = Guarded.data_received

    def data_received(self, data):
        own(self, data)
        ARRIVED[self.client[1]] += len(data)

    monkeypatch.setattr(Guarded, "data_received", data_received)


class Line:
    """A connection to a service."""

    def __init__(self, client):
        self.socket = socket.create_connection((client.base_url.host, client.base_url.port), timeout=LIMIT)
        self.client = client
        self.port = self.socket.getsockname()[1]
        self.received = b""
        self.sent = ARRIVED[self.port] = 0

    @property
    def other_end(self):
        """The connection in the service."""
        connections = self.client.server.server_state.connections
        return wait_until(lambda: next((one for one in tuple(connections) if one.client[1] == self.port), None))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, *pieces):
        """Send pieces, which arrive one by one."""
        for k, piece in enumerate(pieces):
            if k:
                self.arrive()
            self.socket.sendall(piece)
            self.sent += len(piece)

    def arrive(self):
        """Wait until the service has received everything that was sent."""
        wait_until(lambda: ARRIVED[self.port] == self.sent)

    def answer(self):
        """Return the complete next response."""
        while not (found := re.match(rb"(?s).*?\r\n\r\n", self.received)):
            self._receive()
        length = re.search(rb"content-length: (\d+)", found[0])
        end = found.end() + (int(length[1]) if length else 0)
        while len(self.received) < end:
            self._receive()
        answer, self.received = self.received[:end], self.received[end:]
        return answer

    def answer_of(self, *pieces):
        self.send(*pieces)
        return self.answer()

    def _receive(self):
        part = self.socket.recv(2**16)
        assert part, f"closed after {self.received!r}"
        self.received += part

    def closed(self):
        return self.received == b"" and self.socket.recv(1) == b""


def in_pieces(client, request):
    """Return the response to a request, which is the same if sent whole, as head and body, or with a split head."""
    head = request.index(b"\r\n\r\n") + 4
    with Line(client) as connection:
        whole = connection.answer_of(request)
        assert connection.answer_of(request[:head], request[head:]) == whole
        assert connection.answer_of(request[:20], request[20:]) == whole
    return whole


@pytest.fixture
def client(tmp_path):
    with served(tmp_path, limits=Limits(body=8000)) as client:
        create(client)
        assert learn(client, "m", *PAIRS).status_code == 200
        yield client


LARGE = b'{"examples": ["' + b"a" * 9000 + b'"]}'


@pytest.mark.parametrize(
    ("status", "request_"),
    [
        (200, asked()),
        (200, asked(b'{"examples": [{"x": {"f1": 1.5}}, {"x": {}}, {"x": {"f2": -1}}], "scores": true}')),
        (200, asked(ONE, LOCAL, b"Content-Type: Application/JSON; charset=utf-8")),
        (200, asked(ONE, b"Origin: http://localhost", LOCAL, JSON)),
        (403, asked(ONE, b"Origin: http://localhost:3000", LOCAL, JSON)),
        (403, asked(ONE, b"Sec-Fetch-Site: same-site", LOCAL, JSON)),
        (400, asked(b"{")),
        (400, asked(b'{"examples": [NaN]}')),
        (404, asked(name="n")),
        (413, asked(LARGE)),
        (415, asked(ONE, LOCAL)),
        (415, asked(ONE, LOCAL, b"Content-Type: text/plain")),
        (421, asked(ONE, b"Host: evil.example", JSON)),
        (421, asked(ONE, JSON)),
        (422, asked(b'{"examples": [{"x": [1, 2]}]}')),
        (422, asked(b'{"examples": [], "other": 1}')),
    ],
)
def test_the_same_bytes(client, status, request_):
    assert b" %d " % status in in_pieces(client, request_).splitlines()[0]


def test_chunks(client):
    with Line(client) as connection:
        whole = connection.answer_of(asked())
        assert connection.answer_of(chunked(ONE)) == whole
        assert b" 413 " in connection.answer_of(chunked(LARGE)).splitlines()[0]


def test_tokens_are_required(tmp_path):
    path = tmp_path / "tokens"
    path.write_text(line("read", "secret"))
    with served(tmp_path / "data", tokens=Tokens.read(path)) as client:
        for token, status in ((None, 401), ("wrong", 401), ("secret", 404)):
            headers = [] if token is None else [b"Authorization: Bearer " + token.encode()]
            assert b" %d " % status in in_pieces(client, asked(ONE, JSON, *headers)).splitlines()[0]


def test_rate_limits_are_enforced(tmp_path, monkeypatch):
    monkeypatch.setattr("onmargin.apps.serve.limits.time", SimpleNamespace(monotonic=lambda: 0.0))
    with served(tmp_path, limits=Limits(rate=0.5)) as client:
        with Line(client) as connection:
            assert b" 404 " in connection.answer_of(asked()).splitlines()[0]
        assert b" 429 Too Many Requests\r\n" in in_pieces(client, asked())


def test_requests_are_counted(client):
    before = client.service.metrics.predicted
    with Line(client) as connection:
        connection.send(asked(), asked(name="n"))
        connection.answer(), connection.answer()
    metrics = client.get("/metrics").text
    assert f"onmargin_predicted_total {before + 1}\n" in metrics
    assert 'request_seconds_count{kind="predict"} 2\n' in metrics
    assert 'answers_total{status="404"} 1\n' in metrics


def test_responses_are_in_the_order_of_their_requests(client):
    """Requests on a connection wait for a slow one before them."""
    x = b'{"f1": 1.0}'
    example = b'{"examples": [{"x": %b, "y": "yes"}]}' % x
    predict, teach = asked(b'{"examples": [{"x": %b}]}' % x), asked(example, last="learn")
    show = b"GET /v1/models/m HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with Line(client) as connection:
        connection.send(b"".join([predict, predict, teach, predict, show, teach, predict]))
        answers = [connection.answer() for _ in range(7)]
        assert [re.search(rb'"(?:seq|first)":(\d+)', answer)[1] for answer in answers] == [
            b"50", b"50", b"51", b"51", b"51", b"52", b"52"
        ]  # fmt: skip
        connection.send(predict)
        assert b'"seq":52' in connection.answer()


def test_the_next_request_waits_for_a_late_response(client):
    go_on = blocked(client.service)
    with Line(client) as connection:
        connection.send(asked(b'{"examples": [{"x": {"f1": 1.0}, "y": "yes"}]}', last="learn"), asked())
        connection.arrive()
        go_on.set()
        assert b'"first":51' in connection.answer()
        assert b'"seq":51' in connection.answer()


def test_a_body_is_not_read_as_a_request(client):
    """This includes the body of a request that was refused by its head."""
    head = asked(asked() + asked(), LOCAL, last="learn")[: -2 * len(asked())]
    with Line(client) as connection:
        assert b" 415 " in connection.answer_of(head).splitlines()[0]
        connection.send(asked(), asked())
        connection.arrive()
        assert b" 200 " in connection.answer_of(asked()).splitlines()[0]


def flood(connection, request):
    """Send a request repeatedly until the service reads no more; return the number of requests that were sent."""
    some = request * 200
    connection.socket.setblocking(False)
    flow = connection.other_end.flow
    for _ in range(100_000):
        try:
            connection.sent += connection.socket.send(some[connection.sent % len(request) :])
        except BlockingIOError:
            if flow.read_paused and flow.write_paused:  # only this client can change that
                connection.socket.settimeout(LIMIT)
                return connection.sent // len(request)
            wait_until(lambda: select([], [connection.socket], [], 0)[1] or (flow.read_paused and flow.write_paused))
    raise AssertionError("everything was taken")


@pytest.mark.full
@pytest.mark.parametrize(
    "request_",
    [
        asked(b'{"examples": [%b]}' % b",".join([b'{"x": {}}'] * 400)),
        b"GET /v1/models/m/progress HTTP/1.1\r\nHost: localhost\r\nX: %b\r\n\r\n" % (b"x" * 1000),
    ],
)
def test_a_client_that_does_not_read_is_throttled(client, request_):
    with Line(client) as connection:
        n = flood(connection, request_)
        assert 0 < len(connection.other_end.pipeline) < 1000  # the size of one read
        assert connection.other_end.transport.get_write_buffer_size() < 2**20
        assert client.get("/health").status_code == 200
        n_answers, last = 0, b""
        while n_answers < n:
            part = last + connection.socket.recv(2**20)
            last = part[-11:]
            n_answers += part.count(b"HTTP/1.1 200")


def test_responses_much_longer_than_their_requests(tmp_path):
    with served(tmp_path) as client, Line(client) as connection:
        create(client)
        learn(client, "m", *(({"a": 1.0}, f"{k:0250}") for k in range(100)))
        request = asked(b'{"examples": [{"x": {}}, {"x": {}}, {"x": {}}, {"x": {}}], "scores": true}')
        connection.send(request * 300)
        other_end = connection.other_end
        wait_until(lambda: other_end.flow.write_paused)
        assert other_end.transport.get_write_buffer_size() < 2**20
        assert {len(connection.answer()) for _ in range(300)} == {len(connection.answer_of(request))}


@pytest.mark.parametrize("request_", [asked(), chunked(ONE)])
def test_a_request_that_comes_byte_by_byte(client, request_):
    with Line(client) as connection:
        whole = connection.answer_of(asked())
        for k in range(len(request_)):
            connection.send(request_[k : k + 1])
            connection.arrive()
        assert connection.answer() == whole


def test_a_body_without_end(tmp_path):
    with served(tmp_path, limits=Limits(seconds=0.5)) as client, Line(client) as connection:
        assert b" 503 " in connection.answer_of(asked()[:-1]).splitlines()[0]


def test_a_body_that_trickles(tmp_path):
    with served(tmp_path, limits=Limits(seconds=0.5)) as client, Line(client) as connection:
        request = asked(b'{"examples": [{"x": "%b"}]}' % (b"a" * 1000))
        connection.socket.sendall(request[:-1000])
        connection.socket.settimeout(0.1)
        while not connection.received:
            connection.socket.sendall(b"a")
            with suppress(TimeoutError):
                connection.received = connection.socket.recv(1000)
        assert b" 503 " in connection.received.splitlines()[0]


def test_a_body_that_comes_while_the_service_ends(client):
    with Line(client) as connection:
        connection.send(asked()[:-1])
        connection.arrive()
        cycle = connection.other_end.cycle
        client.server.should_exit = True
        wait_until(lambda: not cycle.keep_alive)  # it waits only for this request
        answer = connection.answer_of(asked()[-1:])
        assert b" 200 " in answer.splitlines()[0]
        assert b"connection: close" in answer


def test_expect_continue(client):
    request = asked(ONE, LOCAL, JSON, b"Expect: 100-continue")
    head = request[: -len(ONE)]
    with Line(client) as connection:
        whole = connection.answer_of(asked())
        for pieces in ((head, ONE), (request,)):
            connection.send(*pieces)
            assert connection.answer() == b"HTTP/1.1 100 Continue\r\n\r\n"
            assert connection.answer() == whole


@pytest.mark.parametrize(
    "request_",
    [
        asked(ONE, LOCAL, JSON, b"Connection: close"),
        asked(version="1.0"),
        asked(ONE, LOCAL, JSON, b"Connection: keep-alive", version="1.0"),
    ],
)
def test_a_connection_that_is_not_kept(client, request_):
    with Line(client) as connection:
        connection.send(request_)
        assert b"connection: close\r\n" in connection.answer()
        assert connection.closed()


def test_bytes_that_are_not_http(client):
    broken = chunked(ONE).replace(b"\r\n14\r\n", b"\r\nxx\r\n")
    with Line(client) as connection:
        connection.send(broken)
        assert b" 400 " in connection.answer().splitlines()[0]
        assert connection.closed()


def test_a_failure_gets_a_response_and_is_logged(client, monkeypatch, caplog):
    def fail(*_):
        raise RuntimeError("a defect")

    monkeypatch.setattr("onmargin.apps.serve.json_learner.JsonLearner.predict", fail)
    with Line(client) as connection:
        connection.send(asked())
        assert b" 500 " in connection.answer().splitlines()[0]
    assert "a defect" in caplog.text
    assert 'answers_total{status="500"} 1' in client.get("/metrics").text


def test_too_many_connections(client, monkeypatch):
    with Line(client) as connection:
        connection.send(asked())
        connection.answer()
        for one in client.server.server_state.connections:
            monkeypatch.setattr(one, "limit_concurrency", 1)
        connection.send(asked())
        assert b" 503 " in connection.answer().splitlines()[0]


@pytest.fixture
def quick_to_close(tmp_path, monkeypatch):
    """Run a service with timeouts of half a second."""
    own = Guarded.__init__

    def impatient(self, *arguments, **options):
        own(self, *arguments, **options)
        self.timeout_keep_alive = 0.5

    with served(tmp_path) as client:
        create(client)
    monkeypatch.setattr(Guarded, "__init__", impatient)
    with served(tmp_path, limits=Limits(seconds=0.5, body=100)) as client:
        yield client


REFUSED = asked(b"x" * 1000, last="learn")


@pytest.mark.full
@pytest.mark.parametrize(
    "pieces",
    [
        (asked(),),
        (asked()[:-1], asked()[-1:]),
        (asked(), asked()[:20]),
        (REFUSED[:-100],),
        (REFUSED[:-100], b"x" * 100),
    ],
    ids=["in one piece", "in two", "and half a head", "half a body", "the other half"],
)
def test_a_client_that_stops_sending(quick_to_close, pieces):
    with Line(quick_to_close) as connection:
        connection.send(*pieces)
        connection.answer()
        assert connection.closed()


def test_a_body_after_an_earlier_response(client):
    """The timeout of an idle connection ends with the next bytes."""
    with Line(client) as connection:
        whole = connection.answer_of(asked())
        wait_until(lambda: connection.other_end.timeout_keep_alive_task)
        connection.send(asked()[:-1])
        connection.arrive()
        assert connection.other_end.timeout_keep_alive_task is None
        assert connection.answer_of(asked()[-1:]) == whole


@pytest.mark.full
def test_a_client_that_stops_reading(quick_to_close, caplog):
    requests = asked(b'{"examples": [{"x": "%b"}]}' % (b"a" * 60)) * 100_000
    with Line(quick_to_close) as connection, pytest.raises(OSError, match=r"reset|pipe|aborted"):
        connection.socket.sendall(requests)
    assert quick_to_close.get("/health").status_code == 200
    assert caplog.text == ""


def test_a_client_bridges_a_restart(monkeypatch):
    """The address refuses connections for a while, longer than five seconds of waiting."""
    waits = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setattr("onmargin.apps.serve.connection.time.sleep", waits.append)
    with onmargin.Client(f"http://127.0.0.1:{port}") as late:
        with pytest.raises(ConnectionError, match=f"no answer from the service at 127.0.0.1:{port}"):
            late.learn("m", "a", "x")
        assert sum(waits) > 10
        waits.clear()
        with pytest.raises(ConnectionError, match="no answer"):  # it was never sent, so that it can be repeated
            late.create("n")
        assert sum(waits) > 10


def test_callers_give_idempotency_keys(tmp_path):
    with served(tmp_path) as client:
        create(client)
        for _ in range(2):  # as a program that starts again
            with onmargin.Client(str(client.base_url)) as one:
                one.learn("m", "a", "x", key="first")
                one.learn_many("m", ["a", "b"], ["x", "y"], key="second")
                (prediction,), ids = one.predict_later("m", ["a"])
                assert one.label("m", ids, [prediction]) == [prediction]
        assert client.get("/v1/models/m").json()["seq"] == 5


def test_a_token_is_not_shown_in_errors():
    with pytest.raises(ValueError, match="token must be one line") as caught:
        onmargin.Client("http://127.0.0.1:1", token="secret\nsecret")
    assert "secret" not in str(caught.value)


def test_pages_that_begin_to_watch_at_once_are_limited(tmp_path):
    """The limit was checked when requests arrived, and counted once their answers had begun."""
    with served(tmp_path, limits=Limits(watchers=4)) as client:
        create(client)
        head = b"GET /v1/models/m/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sockets = [socket.create_connection(("127.0.0.1", client.base_url.port)) for _ in range(60)]
        for one in sockets:
            one.sendall(head)
        statuses = [one.recv(12)[-3:] for one in sockets]
        for one in sockets:
            one.close()
        assert statuses.count(b"200") == 4
        assert statuses.count(b"429") == 56
        wait_until(lambda: client.app.context.watchers == 0)
