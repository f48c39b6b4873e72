"""Pages of a team: what is taken in, what is refused and how, what is kept of where it came from."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import orjson
import pytest

from assistant.errors import KnowledgeError, NothingFound, UnknownDocument
from assistant.retrieval.corpus import gather
from assistant.retrieval.documents import Document
from assistant.retrieval.html import markdown_of
from assistant.retrieval.imports import Imported, import_paths
from assistant.retrieval.pages import parse_page
from assistant.retrieval.shelf import Shelf, own_shelf
from assistant.retrieval.tickets import tickets_in
from tests.retrieval.conftest import CHECKOUT, settings_of


def imported(tmp_path: Path, *paths: Path, facts: dict[str, object] | None = None, **limits: object) -> Imported:
    shelf = Shelf(tmp_path / "own")
    return import_paths(paths, shelf, settings_of(tmp_path, **limits).retrieval, facts or {})


def pages(tmp_path: Path) -> list[Document]:
    corpus = gather([tmp_path / "own"])
    return [document for document in corpus.documents if document.kind != "fault"]


def written(path: Path, data: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def test_a_folder_of_mixed_files_is_taken_in_with_its_provenance(tmp_path: Path) -> None:
    folder = tmp_path / "wiki"
    written(folder / "drain.md", "# Draining a node\n\n## Steps\n\nAsk the scheduler first.\n")
    written(folder / "deep/quota.txt", "Quotas\n======\n\nAsk storage.\n# not a heading\n")
    written(folder / "net.html", "<html><title>Net</title><body><h2>Ports</h2><p>Check both ends.</p></body></html>")
    written(folder / ".git/config.md", "hidden")
    done = imported(tmp_path, folder, facts={"vendor": "ours"})
    assert len(done.ids) == 3
    assert done.skipped == []
    by_title = {page.title: page for page in pages(tmp_path)}
    assert by_title["Draining a node"].source == str(folder / "drain.md")
    assert by_title["Draining a node"].vendor == "ours"
    assert by_title["Draining a node"].sections[0].heading == "Draining a node > Steps"
    assert [section.heading for section in by_title["quota"].sections] == ["Quotas"]
    assert "# not a heading" in by_title["quota"].sections[0].text
    assert by_title["Net"].sections[0].text == "Check both ends."


def test_the_same_file_again_replaces_its_page(tmp_path: Path) -> None:
    file = written(tmp_path / "a.md", "# One\n\nfirst")
    first = imported(tmp_path, file).ids
    written(file, "# One\n\nsecond")
    assert imported(tmp_path, file).ids == first
    (page,) = pages(tmp_path)
    assert page.sections[0].text == "second"


def test_front_matter_of_its_own_is_kept(tmp_path: Path) -> None:
    imported(tmp_path, written(tmp_path / "a.md", "---\nid: mine\ntitle: Mine\ncodes: [Xid 7]\n---\n\ntext\n"))
    (page,) = pages(tmp_path)
    assert (page.id, page.codes, page.title) == ("mine", ("Xid 7",), "Mine")


def test_pages_are_private(tmp_path: Path) -> None:
    imported(tmp_path, written(tmp_path / "a.md", "# One\n\ntext"))
    files = [path for path in (tmp_path / "own/docs").rglob("*") if path.is_file()]
    assert files
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


HOSTILE = """<!doctype html><html><head><title>Run<b>book</title><style>p {color: red}</style></head><body>
<script>document.write("stolen " + document.cookie)</script><h1 onclick="evil()">Heading</h1>
<p>Seen &amp; read<br>twice</p><noscript>unseen</noscript><template><p>unseen</p></template>
<svg><text>unseen</text></svg><pre>  kept
    as is</pre><ul><li>one<li>two</ul><a href="javascript:evil()">link</a><script src=x>unclosed"""


def test_scripts_and_everything_unseen_are_dropped_from_html() -> None:
    title, text = markdown_of(HOSTILE)
    assert title.startswith("Run")
    for word in ("stolen", "evil", "unseen", "color", "javascript", "unclosed"):
        assert word not in text
    assert "# Heading" in text
    assert "Seen & read\ntwice" in text
    assert "```\n  kept\n    as is\n```" in text
    assert "- one\n- two" in text


@pytest.mark.parametrize(
    "html", ["", "<" * 50_000, "<div>" * 50_000 + "deep", "</script></p></x>plain", "<!--" * 9_999]
)
def test_broken_html_is_read_as_far_as_it_goes(html: str) -> None:
    markdown_of(html)


def test_control_characters_do_not_get_in(tmp_path: Path) -> None:
    imported(tmp_path, written(tmp_path / "a.txt", b"before\x1b[2Jafter\x00\xff\xe2\x80\xae end"))
    (page,) = pages(tmp_path)
    assert "\x1b" not in page.sections[0].text
    assert "\u202e" not in page.sections[0].text


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("tool.exe", b"MZ", "is not imported"),
        ("empty.md", b" \n", "holds no text"),
        ("broken.md", b"---\ntitle: [x\n---\ntext", "line 3: broken YAML"),
        ("strange.md", b"---\nid: a\ntitle: b\nlayer: moon\n---\ntext", "line 4: layer"),
        ("other.json", b'{"a": 1}', "no tickets"),
        ("bad.json", b"{", "export tickets"),
        ("fake.pdf", b"no pdf at all", "not a readable PDF"),
    ],
)
def test_a_file_that_cannot_be_taken_is_named_and_the_rest_is(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    if name.endswith(".pdf") and find_spec("pypdf") is None:
        pytest.skip("pypdf is not installed")
    folder = tmp_path / "wiki"
    written(folder / name, data)
    written(folder / "good.md", "# Good\n\ntext")
    done = imported(tmp_path, folder)
    assert len(done.ids) == 1
    ((file, reason),) = done.skipped
    assert file == str(folder / name)
    assert why in reason
    assert reason.endswith(")")


def test_a_pdf_of_two_gigabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    file = tmp_path / "huge.pdf"
    with file.open("wb") as sparse:
        sparse.truncate(2 << 30)
    done = imported(tmp_path, file)
    assert done.ids == []
    assert "2,147 MB" in done.skipped[0][1]
    assert "retrieval.import_bytes" in done.skipped[0][1]


def pdf(*texts: str) -> bytes:
    """A small PDF with a page for each text."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for text in texts:
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R" % len(objects)
        objects.append(page + b" /Resources << /Font << /F1 3 0 R >> >> >>")
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (b" ".join(kids), len(kids))
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    end = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + head + table + end


@pytest.mark.skipif(find_spec("pypdf") is None, reason="pypdf is not installed")
def test_a_pdf_is_taken_in_page_by_page_up_to_the_limit(tmp_path: Path) -> None:
    file = written(tmp_path / "guide.pdf", pdf("Drain the node first", "Then power it off", "Never read"))
    imported(tmp_path, file, pdf_pages=2)
    (page,) = pages(tmp_path)
    assert [(part.heading, part.text) for part in page.sections] == [
        ("Page 1", "Drain the node first"),
        ("Page 2", "Then power it off"),
    ]


def test_a_pdf_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    file = written(tmp_path / "slow.pdf", pdf("x"))
    done = imported(tmp_path, file, pdf_seconds=0.001)
    assert "retrieval.pdf_seconds" in done.skipped[0][1]


JIRA = {
    "issues": [
        {
            "key": "OPS-12",
            "self": "https://jira.example.org/rest/api/2/issue/12",
            "fields": {
                "summary": "Node gpu-07 lost its GPU",
                "description": {
                    "type": "doc",
                    "content": [{"type": "paragraph", "content": [{"type": "text", "text": "It fell off the bus."}]}],
                },
                "created": "2025-02-03T10:00:00.000+0000",
                "resolution": {"name": "Replaced"},
                "comment": {"comments": [{"body": "Reseated the card."}]},
            },
        }
    ]
}
GITHUB = [
    {
        "number": 7,
        "title": "Training hangs",
        "body": "All ranks wait.\r\nNo error.",
        "html_url": "https://github.com/example/train/issues/7",
        "created_at": "2025-01-01T00:00:00Z",
        "comments": 3,
    }
]


def test_ticket_exports_become_a_page_a_ticket(tmp_path: Path) -> None:
    written(tmp_path / "x/jira.json", orjson.dumps(JIRA))
    written(tmp_path / "x/github.jsonl", b"\n".join(map(orjson.dumps, GITHUB)))
    done = imported(tmp_path, tmp_path / "x")
    assert sorted(done.ids) == ["issue-example-train-7", "ops-12"]
    by_id = {page.id: page for page in pages(tmp_path)}
    assert by_id["ops-12"].title == "OPS-12: Node gpu-07 lost its GPU"
    assert by_id["ops-12"].date == "2025-02-03"
    texts = {section.heading: section.text for section in by_id["ops-12"].sections}
    assert texts == {"": "It fell off the bus.", "Comment": "Reseated the card.", "Resolution": "Replaced"}
    assert by_id["issue-example-train-7"].source == "https://github.com/example/train/issues/7"
    assert by_id["issue-example-train-7"].kind == "ticket"


@pytest.mark.parametrize("data", [b"[]", b"{}", b'[{"title": 3}]', b"null", b'"x"', b"[[[[]]]]", b'{"issues": 5}'])
def test_json_that_holds_no_tickets_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no tickets"):
        tickets_in(data)


def test_a_path_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(NothingFound, match="absent"):
        imported(tmp_path, tmp_path / "absent")


def test_links_and_pipes_in_a_folder_are_left_alone(tmp_path: Path) -> None:
    written(tmp_path / "wiki/a.md", "# A\n\ntext")
    os.mkfifo(tmp_path / "wiki/pipe.md")
    (tmp_path / "wiki/link.md").symlink_to("/etc/passwd")
    assert len(imported(tmp_path, tmp_path / "wiki").ids) == 1


def test_own_pages_are_removed_by_id_and_shipped_ones_stay(tmp_path: Path) -> None:
    shelf = own_shelf()
    ids = import_paths([written(tmp_path / "a.md", "# A\n\nx")], shelf, settings_of(tmp_path).retrieval, {}).ids
    assert ids[0] in {document.id for document in gather().documents if document.origin == "user"}
    shelf.remove(ids[0])
    assert not gather().find(ids[0])
    for name in (ids[0], "xid-79-fallen-off-bus"):
        with pytest.raises(UnknownDocument, match=name):
            shelf.remove(name)


WRITER = """
import sys
from pathlib import Path
from assistant.config import Retrieval
from assistant.retrieval.imports import import_paths
from assistant.retrieval.shelf import Shelf
import_paths([Path(sys.argv[1])], Shelf(Path(sys.argv[2])), Retrieval(), {})
"""


def test_two_imports_at_once_lose_nothing(tmp_path: Path) -> None:
    for side in ("left", "right"):
        for number in range(20):
            written(tmp_path / side / f"{side}{number}.md", f"# {side} {number}\n\ntext")
    command = [sys.executable, "-c", WRITER]
    running = [
        subprocess.Popen([*command, str(tmp_path / side), str(tmp_path / "own")], cwd=CHECKOUT)
        for side in ("left", "right")
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    assert len(pages(tmp_path)) == 40


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("no front matter", 1, "no front matter"),
        ("---\nid: a\n", 1, "no front matter"),
        ("---\nid: a\ntitle: 'x\n---\n", 3, "broken YAML"),
        ("---\n- a\n---\n", 2, "no keys"),
        ("---\nid: A b\ntitle: x\n---\n", 2, "id"),
        ("---\nid: a\n---\n", 1, "title"),
        ("---\nid: a\ntitle: x\ncauses: [moon.dust]\n---\n", 4, "causes"),
        ("---\nid: a\ntitle: x\nnote: y\n---\n", 4, "note"),
    ],
)
def test_a_broken_page_is_named_with_file_and_line(text: str, line: int, what: str) -> None:
    with pytest.raises(KnowledgeError, match=rf"page\.md, line {line}: .*{what}") as caught:
        parse_page(text, "page.md")
    assert caught.value.hint


def test_headings_within_code_are_text_and_lines_are_true() -> None:
    text = "---\nid: a\ntitle: x\n---\n\n## One\n\n```sh\n# not one\n```\n\n### Deep\n\nmore\n"
    first, second = parse_page(text, "p").sections
    assert (first.heading, first.line) == ("One", 6)
    assert "# not one" in first.text
    assert (second.heading, second.line) == ("One > Deep", 12)
