/** The words around a run's regions when it began, for replaying it later. Pure. */

import type { EditorState } from "@codemirror/state"
import type { RunPlace } from "./run_model"
import { spanById } from "./spans"

const CONTEXT = 220

/** The region's own line, cut at `CONTEXT` units on both sides. */
export function placesOf(state: EditorState, spanIds: readonly string[]): RunPlace[] {
  const spans = spanIds.flatMap((id) => spanById(state, id) ?? []).sort((a, b) => a.from - b.from)
  return spans.map(({ id, from, to }, index) => {
    const line = state.doc.lineAt(from)
    const [last, next] = [spans[index - 1], spans[index + 1]]
    const isSameLine = last !== undefined && last.to >= line.from
    const start = Math.max(line.from, from - CONTEXT)
    const lineEnd = state.doc.lineAt(to).to
    const limit = next !== undefined && next.from <= lineEnd ? next.from : lineEnd
    const end = Math.min(limit, to + CONTEXT)
    return {
      spanId: id,
      before: isSameLine ? "" : atWord(state.sliceDoc(start, from), /^\S*\s/, start > line.from),
      original: state.sliceDoc(from, to),
      after: atWord(state.sliceDoc(to, end), /\s\S*$/, end < limit),
      isSameLine,
    }
  })
}

function atWord(text: string, ragged: RegExp, isCut: boolean): string {
  return isCut ? text.replace(ragged, " … ") : text
}

/** Whether every region of a run still holds the text the run began with. */
export function areUnchanged(state: EditorState, places: readonly RunPlace[]): boolean {
  return places.every(({ spanId, original }) => {
    const span = spanById(state, spanId)
    return span !== undefined && state.sliceDoc(span.from, span.to) === original
  })
}
