"""Text in and out: plain, Markdown, HTML, Word and JSON. No store, no web."""
