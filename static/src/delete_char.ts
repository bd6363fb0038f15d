/**
 * Backspace and Delete by one character as a reader sees it: emoji sequences and flags go whole,
 * a combining mark goes alone under Backspace. Never cuts where the server would refuse an edit.
 */

import { EditorSelection, type EditorState, findClusterBreak } from "@codemirror/state"
import { EditorView, type Command } from "@codemirror/view"

const LONE_MARK = /(?![\u20e3\ufe00-\ufe0f])\p{M}$/u

/** Where a deletion from `at` ends. Pure. */
export function deletionEnd(state: EditorState, at: number, isForward: boolean): number {
  const line = state.doc.lineAt(at)
  if (isForward && at === line.to) return Math.min(state.doc.length, at + 1)
  if (!isForward && at === line.from) return Math.max(0, at - 1)
  const column = at - line.from
  const mark = isForward ? null : LONE_MARK.exec(line.text.slice(0, column))
  return mark === null ? line.from + findClusterBreak(line.text, column, isForward) : at - mark[0].length
}

function deleteChar(view: EditorView, isForward: boolean): boolean {
  const { state } = view
  if (state.readOnly) return false
  const spec = state.changeByRange((range) => {
    const end = range.empty ? deletionEnd(state, range.head, isForward) : range.head
    const [from, to] = range.empty ? [Math.min(range.head, end), Math.max(range.head, end)] : [range.from, range.to]
    return from === to ? { range } : { changes: { from, to }, range: EditorSelection.cursor(from) }
  })
  if (spec.changes.empty) return false
  view.dispatch(
    state.update(spec, {
      scrollIntoView: true,
      userEvent: isForward ? "delete.forward" : "delete.backward",
    }),
  )
  return true
}

export const deleteCharBackward: Command = (view) => deleteChar(view, false)
export const deleteCharForward: Command = (view) => deleteChar(view, true)
