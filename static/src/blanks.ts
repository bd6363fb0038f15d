/**
 * Finds blanks in what was just typed or pasted, so that they become regions.
 *
 * The server finds them in new and imported documents; this is the same for typing. It is
 * deliberately the stricter of the two: what is only perhaps a blank is left alone.
 */

import type { ChangeSet, EditorState } from "@codemirror/state"
import { randomId } from "./outbox"
import { type Span, spansTouching } from "./spans"

const MARKER =
  /\{\{[ \t]*(?<name>[^{}\n#/>!&^][^{}\n]{0,99}?)[ \t]*\}\}|\[ *_{3,200} *\]|\[MASK\]|(?<=^|[\s(“"'])(?:_{3,200}|\*{3,200})(?=$|[\s.,;:!?)”"'])/gmu

/** Regions for the blanks in the lines a change touched, where nothing is marked yet. */
export function blanksIn(state: EditorState, changes: ChangeSet): Span[] {
  const found = new Map<number, Span>()
  changes.iterChangedRanges((_fromA, _toA, fromB, toB) => {
    const from = state.doc.lineAt(fromB).from
    const to = state.doc.lineAt(toB).to
    for (const match of state.sliceDoc(from, to).matchAll(MARKER)) {
      const span = toSpan(from + match.index, match)
      if (isFree(state, span)) found.set(span.from, span)
    }
  })
  return [...found.values()]
}

function toSpan(from: number, match: RegExpMatchArray): Span {
  const name = match.groups?.["name"]
  const settings = name === undefined ? { blank: true } : { blank: true, name }
  return { id: randomId(), kind: "region", from, to: from + match[0].length, settings }
}

function isFree(state: EditorState, span: Span): boolean {
  const line = state.doc.lineAt(span.from)
  const isRule = line.text.trim() === state.sliceDoc(span.from, span.to) && /^[*_]/.test(line.text.trim())
  // A marker that grows under the caret is not finished.
  const isGrowing = /[_*]$/.test(state.sliceDoc(span.from, span.to)) && state.selection.main.head === span.to
  const isTaken = (["region", "field", "locked"] as const).some((kind) => {
    const touching = spansTouching(state, span, kind)
    return touching.length > 0
  })
  return !isRule && !isGrowing && !isTaken
}
