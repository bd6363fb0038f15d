"""The shell: the Gradio page around the editor. It never holds the document, a model or a job."""

from __future__ import annotations

from editor.ui.assets import bundle_stamp, find_stale_bundle
from editor.ui.shell import mount_shell

__all__ = ["bundle_stamp", "find_stale_bundle", "mount_shell"]
