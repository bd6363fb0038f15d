"""What the About panel says: what this is, what it cannot do, what is kept and where."""

from __future__ import annotations

from editor.settings import EditorSettings

__all__ = ["about_text"]

_TEXT = """\
## Tideline

A drafting editor for provisional text. You lock the words that must stay and mark what may
change; a diffusion language model fills and rewrites the marked places in several passes, reading
the text on both sides. Nothing it proposes enters the document until you accept it.

## What to know

- The embedded model is small and works best in English. It proposes wording; it knows no facts.
- A locked phrase is certain to stay. That does not make it true.
- Clinical text needs a clinician's review. Tideline is not a medical device.

## What is kept, and where

- Documents, their edits and revisions: in the database in `{data_dir}` on the computer that runs
  Tideline.
- Of a run: its settings, counts and times. The words of its passes are not stored.
- Edits the server has not confirmed yet: in this browser, until it has.
- Nothing is sent anywhere else.

## Reference

The HTTP interface is described at [/docs](/docs). Licences of the bundled packages:
[NOTICES.txt](/static/tideline/NOTICES.txt).
"""


def about_text(settings: EditorSettings) -> str:
    """Return the panel's Markdown. It holds settings, never a document's words."""
    return _TEXT.format(data_dir=settings.data_dir)
