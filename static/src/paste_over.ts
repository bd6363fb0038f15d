/**
 * Pasting over marked text: only the words that differ are replaced.
 *
 * A person who edits a copy elsewhere and pastes it back means those words, not that every lock,
 * region and origin in between goes. Where nothing is marked, the editor's own paste does.
 */

import type { Extension } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import { diffDocuments } from "./diff"
import { touchesLock } from "./locks"
import { spansOf, spansOfKind } from "./spans"

const MOST_UNITS = 200_000 // a longer comparison would hold the page up

function pasteOver(event: ClipboardEvent, view: EditorView): boolean {
  const { state } = view
  const { from, to, empty } = state.selection.main
  const text = (event.clipboardData?.getData("text/plain") ?? "").replace(/\r\n?/g, "\n")
  const isMarked = spansOf(state).some((span) => span.from < to && span.to > from)
  if (empty || state.selection.ranges.length > 1 || text === "" || text.length + to - from > MOST_UNITS || !isMarked) return false
  const hunks = diffDocuments(state.sliceDoc(from, to), text)
  const changes = state.changes(hunks.map((hunk) => ({ from: from + hunk.from, to: from + hunk.to, insert: state.toText(hunk.inserted) })))
  // It is another text then, not this one edited.
  if (touchesLock(spansOfKind(state, "locked"), changes)) return false
  event.preventDefault()
  view.dispatch({ changes, selection: { anchor: changes.mapPos(to, 1) }, scrollIntoView: true, userEvent: "input.paste" })
  return true
}

export function pasteSupport(): Extension {
  return EditorView.domEventHandlers({ paste: pasteOver })
}
