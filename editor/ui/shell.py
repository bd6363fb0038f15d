"""The Gradio page: one HTML component that hosts the editor, and the About panel.

Gradio draws the frame; it never holds the document, the model or a job. The host component has
a constant template, so Gradio never renders it again and never touches the editor's DOM. User
text must not reach a template: Gradio evaluates templates as code.
"""

from __future__ import annotations

import gradio as gr
from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.staticfiles import StaticFiles
from starlette.types import Message, Receive, Scope, Send

from editor.settings import EditorSettings
from editor.ui.about import about_text
from editor.ui.assets import DIST_DIR, bundle_stamp

__all__ = ["mount_shell"]

# Under Gradio's own /static there is nothing of this name, so neither hides the other.
ASSETS_PATH = "/static/tideline"


def mount_shell(app: FastAPI, settings: EditorSettings) -> None:
    """Serve the bundle under /static/tideline and the page at "/". Call it after all routes.

    The application's own access check guards both: this adds none.
    Raises: Unavailable when the front end is not built.
    """
    stamp = bundle_stamp()
    app.mount(ASSETS_PATH, _KeptAssets(StaticFiles(directory=DIST_DIR)), name="assets")
    gr.mount_gradio_app(
        app,
        _build_blocks(settings, stamp),
        path="/",
        ssr_mode=False,
        show_error=False,
        run_history=False,
        footer_links=[],
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        theme=_theme(),
        head=_head(stamp),
    )


class _KeptAssets:
    """Static files whose addresses hold the bundle's stamp, so a browser may keep them for good."""

    def __init__(self, files: StaticFiles) -> None:
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_kept(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = MutableHeaders(raw=message["headers"])
                headers["Cache-Control"] = "private, max-age=31536000, immutable"
            await send(message)

        await self._files(scope, receive, send_kept)


def _build_blocks(settings: EditorSettings, stamp: str) -> gr.Blocks:
    blocks: gr.Blocks
    with gr.Blocks(title="Tideline", analytics_enabled=False, fill_height=True) as blocks:
        gr.HTML(
            html_template='<div id="tideline"></div>',
            js_on_load=(
                f"import('{ASSETS_PATH}/app.js?v={stamp}')"
                ".then((tideline) => tideline.mount(element.querySelector('#tideline')));"
            ),
            apply_default_css=False,
        )
        with gr.Column(elem_id="tl-about"):
            gr.Markdown(about_text(settings))
            gr.Button("Close", elem_id="tl-about-close")
    return blocks


def _head(stamp: str) -> str:
    """Return what the page loads early, so that the editor need not wait for Gradio."""
    return (
        f'<link rel="stylesheet" href="{ASSETS_PATH}/app.css?v={stamp}">'
        f'<link rel="modulepreload" href="{ASSETS_PATH}/app.js?v={stamp}">'
        f'<link rel="icon" href="{_ICON}">'
    )


_ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' "
    "fill='none' stroke='%230a6270' stroke-width='2.6' stroke-linecap='round'%3E"
    "%3Cpath d='M2 9c2.5 0 2.5 2.4 5 2.4S9.5 9 12 9s2.5 2.4 5 2.4S19.5 9 22 9M2 16c2.5 0 2.5 "
    "2.4 5 2.4S9.5 16 12 16s2.5 2.4 5 2.4 2.5-2.4 5-2.4'/%3E%3C/svg%3E"
)


def _theme() -> gr.themes.Base:
    """Return a theme that fetches nothing: system fonts, our colours come from theme.css."""
    return gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"])
