import pytest

from editor.errors import InvalidText
from editor.formats.plain import read_plain, write_plain


@pytest.mark.parametrize(
    "raw",
    [
        "é\nx\n".encode(),
        "é\r\nx\r".encode(),
        "\ufeffé\nx\n".encode(),
        "é\nx\n".encode("utf-16"),
        b"\xfe\xff" + "é\nx\n".encode("utf-16-be"),
    ],
)
def test_encodings_and_line_ends_come_in_as_one_form(raw):
    assert read_plain(raw) == "é\nx\n"


@pytest.mark.parametrize("raw", ["é".encode("latin-1"), b"\xff\xfe\x00", b"\xed\xa0\x80"])
def test_other_bytes_are_refused(raw):
    with pytest.raises(InvalidText, match="save it as UTF-8"):
        read_plain(raw)


def test_round_trip_keeps_every_character():
    text = "👩‍⚕️ é 🇬🇧\n\tשלום [MASK] <|endoftext|>\n"

    assert read_plain(write_plain(text)) == text
