"""Access control, size, rate and time limits; the file system is not accessible."""

import hmac
import os
import signal
import socket
import threading
from hashlib import sha256
from ipaddress import ip_network
from types import SimpleNamespace

import httpx
import pytest

from onmargin.apps.serve.limits import Limits, Rate
from onmargin.apps.serve.problems import BusyError
from onmargin.apps.serve.service import Settings
from onmargin.apps.serve.tokens import Right, TokenFileError, Tokens, line, new_token
from tests.apps.program import onmargin as command
from tests.apps.serving import blocked, create, learn, predict, process, served
from tests.waiting import LIMIT, wait_until

EXAMPLE = {"examples": [{"x": "some words", "y": "a"}]}
# The scope that each request needs.
ASKED = [
    ("GET", "/v1/models", None, "read"),
    ("GET", "/metrics", None, "read"),
    ("GET", "/v1/models/m", None, "read"),
    ("POST", "/v1/models/m/predict", {"examples": [{"x": "words"}]}, "read"),
    ("POST", "/v1/models/m/explain", {"examples": [{"x": "words"}]}, "read"),
    ("GET", "/v1/models/m/weights", None, "read"),
    ("GET", "/v1/models/m/progress", None, "read"),
    ("POST", "/v1/models/m/learn", EXAMPLE, "learn"),
    ("GET", "/v1/models/m/journal", None, "admin"),
    ("POST", "/v1/models/m/rewind", {"seq": 1}, "admin"),
    ("POST", "/v1/models/m/compact", {}, "admin"),
    ("POST", "/v1/models", {"name": "other"}, "admin"),
    ("DELETE", "/v1/models/m", None, "admin"),
]


@pytest.fixture
def tokens(tmp_path):
    """Return a file of three tokens, and the tokens by scope."""
    made = {scope: new_token() for scope in ("read", "learn", "admin")}
    lines = [f"{line(scope, token)}  # of a {scope}er" for scope, token in made.items()]
    path = tmp_path / "tokens"
    path.write_text("\n".join(["# who may", "", *lines]))
    return path, made


def test_scopes(tmp_path, tokens):
    path, made = tokens
    with served(tmp_path / "data", tokens=Tokens.read(path)) as client:
        bearer = {scope: {"Authorization": f"Bearer {token}"} for scope, token in made.items()}
        bearer["wrong"] = {"Authorization": "Bearer " + "x" * 43}
        create_it = {"name": "m", "parameters": {}}
        assert client.post("/v1/models", json=create_it, headers=bearer["admin"]).status_code == 201
        for method, where, body, needed in ASKED:
            for scope in (None, "wrong", "read", "learn", "admin"):
                headers = bearer.get(scope, {})
                answer = client.request(method, where, json=body, headers=headers)
                if scope in {None, "wrong"}:
                    assert answer.status_code == 401, (where, scope)
                    assert answer.headers["www-authenticate"] == "Bearer"
                elif ("read", "learn", "admin").index(scope) < ("read", "learn", "admin").index(needed):
                    assert answer.status_code == 403, (where, scope)
                else:
                    assert answer.status_code < 300, (where, scope, answer.text)
        for where in ("/", "/health", "/openapi.json"):
            assert client.get(where).status_code == 200


def test_tokens_are_compared_by_digest_in_constant_time(tokens, monkeypatch):
    """Digests, not tokens, are compared, and each with all known ones."""
    path, made = tokens
    known = Tokens.read(path)
    compared = []

    def count(a, b):
        compared.append((len(a), len(b)))
        return compare(a, b)

    compare = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", count)
    near = made["read"][:-1] + ("A" if made["read"][-1] != "A" else "B")
    headers = [None, b"", b"Bearer", b"Basic x", *(f"Bearer {token}".encode() for token in (near, *made.values()))]
    assert [known.right(header) for header in headers] == [None] * 5 + list(Right)
    assert compared == [(32, 32)] * 3 * len(headers)


def test_a_token_file_in_another_encoding_is_not_shown(tmp_path):
    (tmp_path / "token").write_bytes(b"\xff\xfes\0e\0c\0r\0e\0t\0")
    message = command("backup", "http://127.0.0.1:1", "-o", tmp_path / "b", "--token-file", tmp_path / "token", code=1)
    assert "must have a token as `onmargin token` prints it" in message
    assert "ecret" not in message.replace("\0", "")


def test_a_read_only_folder_is_not_called_damaged(tmp_path, monkeypatch):
    with served(tmp_path / "data") as client:
        client.post("/v1/models", json={"name": "m", "task": "classify"})
        learn(client, "m", ({"a": 1.0}, "x"), ({"a": -1.0}, "y"))
    allowed = os.access
    monkeypatch.setattr("os.access", lambda path, mode: mode != os.W_OK and allowed(path, mode))
    assert "m: intact, 2 examples" in command("serve", "--data", tmp_path / "data", "--check")
    message = command("serve", "--data", tmp_path / "data", "--port", 0, code=1)
    assert "is read-only: give the service a folder that it can write to" in message
    assert "damaged" not in message


def test_token_files(tmp_path):
    for text in ("", "# nobody", "read abc", "write " + "0" * 64, "read"):
        path = tmp_path / "tokens"
        path.write_text(text)
        with pytest.raises(TokenFileError):
            Tokens.read(path)
    assert "line" in command("token", "learn")


def test_tokens_are_read_again(tmp_path):
    """SIGHUP replaces the tokens without a restart; a file with an error changes nothing."""
    path = tmp_path / "tokens"
    path.write_text(line("read", "old"))
    with process(tmp_path / "data", "--tokens", path) as (address, running):

        def status(token):
            return httpx.get(f"{address}/v1/models", headers={"Authorization": f"Bearer {token}"}).status_code

        assert (status("old"), status("new")) == (200, 401)
        path.write_text(line("read", "new"))
        running.send_signal(signal.SIGHUP)
        assert "read again" in running.stderr.readline()
        assert (status("old"), status("new")) == (401, 200)
        path.write_text("nonsense")
        running.send_signal(signal.SIGHUP)
        assert "stay as they were" in running.stderr.readline()
        assert status("new") == 200


def test_what_a_refusal_says(tmp_path, tokens):
    with served(tmp_path, tokens=Tokens.read(tokens[0]), limits=Limits(body=1024)) as client:
        says = lambda **headers: client.get("/v1/models", headers=headers).json()["error"]  # noqa: E731
        assert says().startswith("a token is needed")
        assert says(Authorization="Bearer other").startswith("the token is not known")
        admin = {"Authorization": f"Bearer {tokens[1]['admin']}"}
        assert "--max-body" in client.post("/v1/models", json={"name": "a" * 2000}, headers=admin).json()["error"]


def test_options_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ONMARGIN_SERVE_MAX_BODY", "12")
    assert "12" in command("serve", "--data", tmp_path, "--port", 0, code=2)


def test_other_addresses_need_tokens(tmp_path):
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org"):
        assert "--tokens" in command("serve", "--data", tmp_path / "data", "--host", host, code=2)
    assert not (tmp_path / "data").exists()


def test_a_port_that_is_taken(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        words = command("serve", "--data", tmp_path, "--port", taken.getsockname()[1], code=1)
    assert "cannot listen" in words


def test_bodies_are_bounded_and_json(tmp_path):
    with served(tmp_path, limits=Limits(body=2000)) as client:
        create(client)
        long = b'{"examples": [{"x": "' + b"a" * 3000 + b'", "y": "b"}]}'
        headers = {"content-type": "application/json"}
        assert client.post("/v1/models/m/learn", content=long, headers=headers).status_code == 413
        chunks = (long[k : k + 500] for k in range(0, len(long), 500))
        assert client.post("/v1/models/m/learn", content=chunks, headers=headers).status_code == 413
        plain = {"content-type": "text/plain"}
        assert client.post("/v1/models/m/learn", content=b"{}", headers=plain).status_code == 415
        assert client.post("/v1/models/m/learn", content=b"{", headers=headers).status_code == 400
        assert client.post("/v1/models", content=b"{", headers=headers).status_code == 400
        assert client.post("/v1/models", json={"name": "../m"}).status_code == 422
        assert client.post("/v1/models", json={"name": "m\n"}).status_code == 422
        assert client.get("/v1/models/m").json()["seq"] == 0


def test_only_this_machine_by_its_own_names(tmp_path):
    with served(tmp_path) as client:
        create(client)
        for host in ("evil.example", "evil.example:8700", "127.0.0.1.evil.example", ""):
            assert client.get("/v1/models", headers={"host": host}).status_code == 421
            assert client.post("/v1/models/m/learn", json=EXAMPLE, headers={"host": host}).status_code == 421
        assert client.get("/v1/models", headers={"host": "localhost:1"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/page.js/../../journal.sqlite",
        "/v1/models/..%2f..%2fetc",
        "/v1/models/%00",
        "/journal.sqlite",
    ],
)
def test_files_are_not_accessible(tmp_path, path):
    with served(tmp_path) as client:
        answer = client.get(path)
        assert answer.status_code == 404
        assert b"sqlite" not in answer.content.lower()


def test_a_full_queue_refuses_requests(tmp_path):
    with served(tmp_path, Settings(waiting=3)) as client:
        create(client)
        learn(client, "m", ("a", "x"), ("b", "y"))
        go_on = blocked(client.service)
        statuses = []
        threads = [
            threading.Thread(target=lambda: statuses.append(learn(client, "m", ("a", "x")).status_code))
            for _ in range(4)
        ]
        for n_before, thread in enumerate(threads):
            thread.start()  # the first is being written, three wait
            wait_until(lambda n=n_before: client.service.turn.locked() and client.service.waiting == n)
        refused = learn(client, "m", ("a", "x"))
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert predict(client, "m", "a").status_code == 200
        go_on.set()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 4
        assert client.get("/v1/models/m").json()["seq"] == 6


def test_a_request_that_never_completes_times_out(tmp_path):
    with served(tmp_path) as client:
        create(client)
    with served(tmp_path, limits=Limits(seconds=0.5)) as client:
        go_on = blocked(client.service)
        answer = learn(client, "m", ("a", "x"), key="k")
        go_on.set()
        assert answer.status_code == 503
    with served(tmp_path) as client:
        again = learn(client, "m", ("a", "x"), key="k")
        assert again.json()["last"] == 1


def test_a_client_that_does_not_end_its_request(tmp_path):
    with served(tmp_path) as client:
        create(client)
    with (
        served(tmp_path, limits=Limits(seconds=0.5)) as client,
        socket.create_connection((client.base_url.host, client.base_url.port), timeout=LIMIT) as slow,
    ):
        slow.sendall(b"POST /v1/models/m/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        slow.sendall(b"Content-Length: 100\r\n\r\n{")
        assert b" 503 " in slow.recv(1000).splitlines()[0]


@pytest.mark.parametrize("begun", [b"", b"POST /v1/models/m/le", b"GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_client_that_sends_nothing(tmp_path, begun):
    with (
        served(tmp_path, limits=Limits(seconds=0.3)) as client,
        socket.create_connection((client.base_url.host, client.base_url.port)) as slow,
    ):
        slow.sendall(begun)
        slow.settimeout(LIMIT)
        assert slow.recv(1000) == b""
        assert client.get("/health").status_code == 200


def test_a_head_without_end(tmp_path):
    with (
        served(tmp_path) as client,
        socket.create_connection((client.base_url.host, client.base_url.port)) as slow,
    ):
        slow.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        endless = b"".join(b"X-%d: %s\r\n" % (k, b"a" * 1000) for k in range(50_000))
        with pytest.raises(OSError, match=r"reset|pipe|aborted"):
            slow.sendall(endless)
        assert client.get("/health").status_code == 200


def test_rates(monkeypatch):
    now = 0.0
    monkeypatch.setattr("onmargin.apps.serve.limits.time", SimpleNamespace(monotonic=lambda: now))
    rate = Rate(2)
    for _ in range(4):
        rate.take("a")
    with pytest.raises(BusyError) as caught:
        rate.take("a")
    assert caught.value.retry_after == 1
    now = 0.5
    rate.take("a")
    with pytest.raises(BusyError):
        rate.take("a")
    rate.take("b")
    for k in range(20_000):
        rate.take(str(k))
    assert len(rate._buckets) <= 10_000


def test_too_many_requests(tmp_path):
    with process(tmp_path, "--rate", 0.001) as (address, _), httpx.Client(base_url=address, verify=False) as client:
        answers = [client.get("/v1/models") for _ in range(20)]
    assert {answer.status_code for answer in answers} == {200, 429}
    assert all("retry-after" in answer.headers for answer in answers if answer.status_code == 429)


def test_rates_behind_a_proxy(tmp_path):
    """The forwarded address counts if the proxy is trusted, and clients cannot forge it."""

    def statuses(limits, *forwarded):
        with served(tmp_path, limits=limits) as client:
            return [client.get("/v1/models", headers={"X-Forwarded-For": one}).status_code for one in forwarded]

    clients = [f"192.0.2.{k}" for k in range(6)]
    assert 429 in statuses(Limits(rate=0.001), *clients)
    here = (ip_network("127.0.0.0/8"),)
    assert statuses(Limits(rate=0.001, proxies=here), *clients) == [200] * 6
    invented = [f"203.0.113.{k}, 192.0.2.1" for k in range(6)]
    assert 429 in statuses(Limits(rate=0.001, proxies=here), *invented)
    chain = [f"192.0.2.{k}, 127.0.0.9" for k in range(6)]
    assert statuses(Limits(rate=0.001, proxies=here), *chain) == [200] * 6
    network = [f"2001:db8:0:1::{k}" for k in range(6)]
    assert 429 in statuses(Limits(rate=0.001, proxies=here), *network)
    for others in ([f"2001:db8:0:{k}::1" for k in range(6)], [f"::ffff:192.0.2.{k}" for k in range(6)]):
        assert statuses(Limits(rate=0.001, proxies=here), *others) == [200] * 6
    assert "--proxy" in command("serve", "--data", tmp_path, "--proxy", "nowhere", code=2)


@pytest.mark.parametrize("last", ["predict", "learn"])
@pytest.mark.parametrize("protocol", ["websocket", "h2c", "other"])
def test_another_protocol_is_refused(tmp_path, protocol, last):
    """The bytes after the head of such a request are not HTTP, and are not read as requests."""
    inner = b'{"examples": [{"x": {"a": 1.0}, "y": "b"}]}'
    inside = b"POST /v1/models/m/learn HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    inside += b"Content-Length: %d\r\n\r\n%b" % (len(inner), inner)
    head = f"POST /v1/models/m/{last} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: {protocol}\r\n"
    head += f"Content-Type: application/json\r\nContent-Length: {len(inside)}\r\n\r\n"
    with served(tmp_path) as client:
        create(client)
        with socket.create_connection((client.base_url.host, client.base_url.port), timeout=LIMIT) as connection:
            connection.sendall(head.encode() + inside + inside)
            received = b""
            while part := connection.recv(1000):
                received += part
        assert received.startswith(b"HTTP/1.1 400 ")
        assert received.count(b"HTTP/1.1") == 1
        assert client.get("/v1/models/m").json()["seq"] == 0


def test_headers(tmp_path):
    with served(tmp_path) as client:
        create(client)
        for answer in (client.get("/v1/models"), learn(client, "m", ("a", "x")), client.get("/nothing")):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers
        policy = client.get("/").headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert client.post("/v1/models/m").status_code == 405
        assert client.options("/v1/models").status_code == 405


def test_comparison_time_does_not_depend_on_the_token(tmp_path, monkeypatch):
    """The digest is compared with all known ones, each in constant time: a longer common prefix takes no longer."""
    path = tmp_path / "tokens"
    known = [new_token() for _ in range(20)]
    path.write_text("\n".join(line("read", token) for token in known))
    tokens = Tokens.read(path)
    compared, constant_time = [], hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda *both: compared.append(both) or constant_time(*both))
    for guess in (known[0], known[-1], known[0][:-1] + "!", "!" + known[0][1:]):
        assert (tokens.right(b"Bearer " + guess.encode()) is Right.READ) == (guess in known)
        digest = sha256(guess.encode()).digest()
        assert compared == [(one, digest) for one, _ in tokens.known]
        compared.clear()
