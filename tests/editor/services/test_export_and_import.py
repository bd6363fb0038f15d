import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from editor.document.spans import Span
from editor.errors import InvalidInput, UnsupportedFormat
from editor.services.documents import Exportable, export_document, import_file

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\r"), max_size=60)


def a_document(text="Text", title="Title", spans=()):
    return Exportable("id", title, text, 0, spans, ())


@pytest.mark.parametrize("form", ["txt", "md", "json"])
@given(text=texts)
def test_B4_formats_that_hold_everything_give_the_same_text_back(form, text):
    exported = export_document(a_document(text), form)
    if form != "json" and text.startswith("\ufeff"):
        return  # a mark of byte order at the head of a file is not text

    assert import_file(exported.body, filename=exported.filename).text == text


@given(text=texts, title=texts)
def test_every_text_and_title_can_be_written_in_every_format(text, title):
    for form in ("txt", "md", "html", "docx", "json"):
        exported = export_document(a_document(text, title), form)

        assert exported.body or not text
        assert exported.filename.endswith(f".{form}")
        assert exported.content_disposition.isascii()
        assert "\n" not in exported.content_disposition
        assert not set(exported.filename) & set('/\\:*?"<>|')


def test_json_keeps_spans_with_their_settings():
    spans = (Span("dose", "locked", 0, 4), Span("f", "field", 4, 4 + 1, {"label": "é"}))

    exported = export_document(a_document("5 mg!", spans=spans), "json")

    assert import_file(exported.body, filename="x.json").spans == spans


@pytest.mark.parametrize(
    ("filename", "form", "title"),
    [
        ("a b.TXT", "", "a b"),
        ("C:\\notes\\plan.md", "", "plan"),
        ("", "md", ""),
        ("noend", "", "noend"),
    ],
)
def test_the_format_is_told_by_name_or_by_word(filename, form, title):
    imported = import_file(b"text", filename=filename, form=form)

    assert (imported.title, imported.text, imported.spans) == (title, "text", None)


@pytest.mark.parametrize("filename", ["a.pdf", "a.odt", "a.tar.gz"])
def test_other_kinds_are_refused(filename):
    with pytest.raises(UnsupportedFormat, match="allowed: txt, md, html, docx, json"):
        import_file(b"text", filename=filename)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"format": "other", "text": "a", "hash": "b"}', b'{"text": "a"}', b"\xff"],
)
def test_json_of_another_form_is_refused(content):
    with pytest.raises(InvalidInput):
        import_file(content, form="json")


def test_json_is_readable_and_names_its_form():
    exported = json.loads(export_document(a_document("é"), "json").body)

    assert exported["format"] == "tideline-document-1"
    assert exported["text"] == "é"
