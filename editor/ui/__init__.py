"""The shell: the Gradio page around the editor. It never holds the document, a model or a job."""

from __future__ import annotations

from editor.ui.shell import mount_shell

__all__ = ["mount_shell"]
