"""Reading texts from folders and mailboxes."""

import gzip
import io
import mailbox
from email.message import EmailMessage

import pytest

from onmargin.io import ReadError, Record, read_folder, read_mbox


def message(subject="Lunch", label="private", plain="At noon?\n", html=None, charset="utf-8"):
    made = EmailMessage()
    made["Subject"], made["X-Label"], made["From"] = subject, label, "me@example.org"
    if plain is not None:
        made.set_content(plain, charset=charset)
    if html is not None:
        (made.set_content if plain is None else made.add_alternative)(html, subtype="html")
    return made


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        "b/2": "two",
        "b/1": "one",
        "a/x/3.txt": "three",
        ".git/config": "no",
        "b/.hidden": "no",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "README").write_text("no label")
    return tmp_path


def test_folder(folder):
    reader = read_folder(folder)
    assert list(reader) == list(reader) == [Record("three", "a"), Record("one", "b"), Record("two", "b")]


def test_folder_in_random_order(folder):
    for k in range(20):
        (folder / "a" / f"n{k}").write_text(str(k))
    shuffled = list(read_folder(folder, random_state=0))
    assert shuffled == list(read_folder(folder, random_state=0)) != list(read_folder(folder))
    assert sorted(shuffled) == sorted(read_folder(folder))


def test_encodings_and_compression_in_folders(folder):
    (folder / "b" / "1").write_bytes(gzip.compress(b"one"))
    (folder / "b" / "2").write_bytes("zwölf".encode("latin-1"))
    assert [x for x, *_ in read_folder(folder, encoding="latin-1")] == ["three", "one", "zwölf"]
    seen = []
    with pytest.raises(ReadError, match=r"record 3: the text is not utf-8: .*; set encoding") as caught:
        seen.extend(read_folder(folder))
    assert caught.value.path == str(folder / "b" / "2")


def test_folder_of_mail(folder):
    for name in ("a/x/3.txt", "b/1", "b/2"):
        (folder / name).write_bytes(bytes(message(plain=f"In {name}\n")))
    assert [x for x, *_ in read_folder(folder, mail=True)] == ["In a/x/3.txt\n", "In b/1\n", "In b/2\n"]
    assert next(iter(read_folder(folder, mail=True, headers=["subject"]))).x == "Lunch\n\nIn a/x/3.txt\n"


def test_missing_folder(tmp_path):
    with pytest.raises(ValueError, match="encoding must be one that Python knows, such as 'latin-1'; got 'utf-9'"):
        read_folder(tmp_path, encoding="utf-9")
    with pytest.raises(FileNotFoundError):
        list(read_folder(tmp_path / "none"))


def test_mbox_reads_what_python_writes(tmp_path):
    box = mailbox.mbox(tmp_path / "box")
    texts = ["At noon?\n", "From here on,\n\nFrom me\n", "Grüße\n"]
    for k, text in enumerate(texts):
        box.add(message(label=f"label {k}", plain=text))
    box.close()
    reader = read_mbox(tmp_path / "box", label="X-Label")
    assert [x.rstrip("\n") for x, *_ in reader] == [text.rstrip("\n") for text in texts]
    assert [y for _, y, _ in reader] == ["label 0", "label 1", "label 2"]
    assert next(iter(read_mbox(tmp_path / "box"))).y is None


def mbox_of(*messages):
    return io.BytesIO(b"".join(b"From me\n" + bytes(m) + b"\n" for m in messages))


def test_parts_of_a_message():
    both = message(plain="plain", html="<b>html</b>")
    assert next(iter(read_mbox(mbox_of(both)))).x.strip() == "plain"
    alone = message(plain=None, html="<style>p {}</style><p>A <b>bold</b> &amp; new</p>")
    assert next(iter(read_mbox(mbox_of(alone)))).x.strip() == "A bold & new"
    encoded = message(subject="Grüße", plain="Grüße\n", charset="latin-1")
    assert next(iter(read_mbox(mbox_of(encoded), headers=["Subject", "None"]))).x.strip() == "Grüße\n\nGrüße"


@pytest.mark.parametrize("charset", ["no-such-charset", "utf-8", "hex", "utf-16\0"])
def test_mail_that_lies_about_its_charset(charset):
    data = f"From me\nContent-Type: text/plain; charset={charset}\n\n".encode() + b"gr\xfcn\n"
    assert "gr" in next(iter(read_mbox(io.BytesIO(data)))).x or charset.startswith("utf-16")


def test_broken_headers_are_kept_as_they_stand():
    data = b"From me\nSubject: =?utf-8?b?A?=\n\ntext\n"
    assert next(iter(read_mbox(io.BytesIO(data), label="Subject"))).y == "=?utf-8?b?A?="


def test_what_is_no_mailbox():
    assert list(read_mbox(io.BytesIO(b""))) == list(read_mbox(io.BytesIO(b"\n\n"))) == []
    with pytest.raises(ReadError, match=r"line 2, record 1: a mailbox starts with a line 'From \.\.\.'; got 'Subject"):
        list(read_mbox(io.BytesIO(b"\nSubject: x\n\ny\n")))
