import io
import zipfile

import docx
import pytest

from editor.errors import InvalidText, TooLarge
from editor.formats.docx import read_docx, write_docx


def test_round_trip_keeps_lines_headings_and_unicode():
    text = "# Title\n\nFirst\tline 👩‍⚕️ é\n  indented [___]\n###### Deep\nend\n"

    assert read_docx(write_docx(text, title="T")) == text


def test_characters_that_xml_cannot_hold_are_visible():
    assert read_docx(write_docx("a\x0bb\x01c", title="\x00t")) == "a\ufffdb\ufffdc\n"


def test_export_names_no_author():
    properties = docx.Document(io.BytesIO(write_docx("a", title="T"))).core_properties

    assert (properties.title, properties.author) == ("T", "")


def test_table_comes_in_as_tabbed_lines():
    document = docx.Document()
    document.add_paragraph("before")
    table = document.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "k", "v"
    packed = io.BytesIO()
    document.save(packed)

    assert read_docx(packed.getvalue()) == "before\nk\tv\n"


def zip_of(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize("raw", [b"", b"plain", zip_of(other=b"x"), b"PK\x03\x04broken"])
def test_other_files_are_refused(raw):
    with pytest.raises(InvalidText, match="not a Word document"):
        read_docx(raw)


def test_a_file_that_unpacks_to_too_much_is_refused_before_unpacking():
    with pytest.raises(TooLarge, match="unpacks to"):
        read_docx(zip_of(bomb=bytes(140_000_000)))
