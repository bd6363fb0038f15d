import pytest

from editor.formats.html import read_html, write_html


def test_export_renders_markdown_and_keeps_markup_of_the_text_as_text():
    text = "# Note\n\nDose <b>5 mg</b>\nnext\n<script>alert(1)</script>\n"

    page = write_html(text, title="A <title>").decode()

    assert "<h1>Note</h1>" in page
    assert "<title>A &lt;title&gt;</title>" in page
    assert "&lt;b&gt;5 mg&lt;/b&gt;<br>\nnext" in page
    assert "<script" not in page


@pytest.mark.parametrize(
    "link", ["[x](javascript:alert(1))", "[x](data:text/html,hi)", "[x](vbscript:a)"]
)
def test_export_holds_no_active_link(link):
    assert "<a " not in write_html(link, title="").decode()


def test_export_braces_are_kept():
    assert "{{name}} {0}" in write_html("{{name}} {0}", title="{t}").decode()


def test_import_keeps_structure_as_markdown():
    page = (
        b"<html><head><title>no</title></head><body><h2 class='x'>Plan</h2>"
        b"<p style='color:red'>Take <b>two</b>\n  <i>daily</i> &amp; rest, see "
        b"<a href='https://a.example' onclick='x()'>this</a>.<br>End</p>"
        b"<ol><li>one</li><li>two</li></ul></body></html>"
    )

    assert read_html(page) == (
        "## Plan\n\nTake **two** *daily* & rest, see [this](https://a.example).\nEnd\n\n"
        "1. one\n2. two\n"
    )


def test_import_drops_what_is_not_text():
    page = b"<p>a</p><script>bad()</script><style>p{}</style><!-- c --><template>t</template>b"

    assert read_html(page) == "a\n\nb\n"


def test_import_keeps_code_and_tables():
    page = b"<pre>x\n  y</pre><table><tr><th>k</th><th>v</th></tr><tr><td>1</td><td>2</td></tr>"

    assert read_html(page) == "```\nx\n  y\n```\n\nk\tv\n\n1\t2\n"


def test_import_of_broken_or_empty_markup_does_not_fail():
    assert read_html(b"") == ""
    assert read_html(b"</p></ul></a><li>x<svg><p>dropped") == "- x\n"


@pytest.mark.parametrize(
    "text",
    [
        "Fish &amp; chips\n",
        "Fish & chips, 3 < 4 > 2\n",
        "&lt;b&gt; and &#65; and &nbsp;\n",
        "`&amp;` in code\n",
        "&amp;amp;\n",
    ],
)
def test_text_that_spells_entities_comes_back_as_it_was(text):
    assert read_html(write_html(text, title="")) == text
