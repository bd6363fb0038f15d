/**
 * The keys of a prose editor: moving, selecting, deleting, as each platform has them.
 *
 * CodeMirror's own key map also indents, comments and walks syntax trees; leaving those out keeps
 * its parser libraries (a sixth of the bundle) away. Ctrl+A takes the region first, then all.
 */

import {
  cursorCharLeft, cursorCharRight, cursorDocEnd, cursorDocStart, cursorGroupLeft, cursorGroupRight,
  cursorLineBoundaryBackward, cursorLineBoundaryForward, cursorLineBoundaryLeft, cursorLineBoundaryRight,
  cursorLineDown, cursorLineEnd, cursorLineStart, cursorLineUp, cursorPageDown, cursorPageUp,
  deleteGroupBackward, deleteGroupForward,
  deleteLineBoundaryBackward, deleteLineBoundaryForward, deleteToLineEnd, insertNewline, redo,
  selectAll, selectCharLeft, selectCharRight, selectDocEnd, selectDocStart, selectGroupLeft,
  selectGroupRight, selectLineBoundaryBackward, selectLineBoundaryForward, selectLineBoundaryLeft,
  selectLineBoundaryRight, selectLineDown, selectLineEnd, selectLineStart, selectLineUp,
  selectPageDown, selectPageUp, transposeChars, undo,
} from "@codemirror/commands"
import type { EditorView, KeyBinding } from "@codemirror/view"
import { deleteCharBackward, deleteCharForward } from "./delete_char"
import { spansTouching } from "./spans"

function selectRegionThenAll(view: EditorView): boolean {
  const { main } = view.state.selection
  const region = spansTouching(view.state, main, "region")[0]
  const isTaken = region === undefined || (main.from <= region.from && main.to >= region.to)
  if (isTaken) return selectAll(view)
  view.dispatch({ selection: { anchor: region.from, head: region.to }, userEvent: "select" })
  return true
}

export const PROSE_KEYS: readonly KeyBinding[] = [
  { key: "ArrowLeft", run: cursorCharLeft, shift: selectCharLeft, preventDefault: true },
  { key: "ArrowRight", run: cursorCharRight, shift: selectCharRight, preventDefault: true },
  { key: "ArrowUp", run: cursorLineUp, shift: selectLineUp, preventDefault: true },
  { key: "ArrowDown", run: cursorLineDown, shift: selectLineDown, preventDefault: true },
  { key: "Mod-ArrowLeft", mac: "Alt-ArrowLeft", run: cursorGroupLeft, shift: selectGroupLeft, preventDefault: true },
  { key: "Mod-ArrowRight", mac: "Alt-ArrowRight", run: cursorGroupRight, shift: selectGroupRight, preventDefault: true },
  { mac: "Cmd-ArrowLeft", run: cursorLineBoundaryLeft, shift: selectLineBoundaryLeft, preventDefault: true },
  { mac: "Cmd-ArrowRight", run: cursorLineBoundaryRight, shift: selectLineBoundaryRight, preventDefault: true },
  { mac: "Cmd-ArrowUp", run: cursorDocStart, shift: selectDocStart },
  { mac: "Cmd-ArrowDown", run: cursorDocEnd, shift: selectDocEnd },
  { key: "PageUp", run: cursorPageUp, shift: selectPageUp },
  { key: "PageDown", run: cursorPageDown, shift: selectPageDown },
  { key: "Home", run: cursorLineBoundaryBackward, shift: selectLineBoundaryBackward, preventDefault: true },
  { key: "End", run: cursorLineBoundaryForward, shift: selectLineBoundaryForward, preventDefault: true },
  { key: "Mod-Home", run: cursorDocStart, shift: selectDocStart },
  { key: "Mod-End", run: cursorDocEnd, shift: selectDocEnd },
  { key: "Enter", run: insertNewline, shift: insertNewline },
  { key: "Mod-a", run: selectRegionThenAll },
  { key: "Backspace", run: deleteCharBackward, shift: deleteCharBackward, preventDefault: true },
  { key: "Delete", run: deleteCharForward, preventDefault: true },
  { key: "Mod-Backspace", mac: "Alt-Backspace", run: deleteGroupBackward, preventDefault: true },
  { key: "Mod-Delete", mac: "Alt-Delete", run: deleteGroupForward, preventDefault: true },
  { mac: "Mod-Backspace", run: deleteLineBoundaryBackward, preventDefault: true },
  { mac: "Mod-Delete", run: deleteLineBoundaryForward, preventDefault: true },
  { mac: "Ctrl-b", run: cursorCharLeft, shift: selectCharLeft, preventDefault: true },
  { mac: "Ctrl-f", run: cursorCharRight, shift: selectCharRight },
  { mac: "Ctrl-p", run: cursorLineUp, shift: selectLineUp },
  { mac: "Ctrl-n", run: cursorLineDown, shift: selectLineDown },
  { mac: "Ctrl-a", run: cursorLineStart, shift: selectLineStart },
  { mac: "Ctrl-e", run: cursorLineEnd, shift: selectLineEnd },
  { mac: "Ctrl-d", run: deleteCharForward },
  { mac: "Ctrl-h", run: deleteCharBackward },
  { mac: "Ctrl-k", run: deleteToLineEnd },
  { mac: "Ctrl-t", run: transposeChars },
  { key: "Mod-z", run: undo, preventDefault: true },
  { key: "Mod-y", mac: "Mod-Shift-z", run: redo, preventDefault: true },
  { linux: "Ctrl-Shift-z", win: "Ctrl-Shift-z", run: redo, preventDefault: true },
]
