/**
 * What marking does to regions: a new one, one made larger or smaller, several joined, one removed.
 * Pure: decides which spans go and which come; positions are UTF-16 units.
 */

import type { EditorState } from "@codemirror/state"
import { type Span, spansOfKind, spansTouching } from "./spans"

export interface RegionEdit {
  readonly removed: readonly string[]
  readonly added: readonly Span[]
  /** What is said of it. */
  readonly words: string
}

interface Range {
  readonly from: number
  readonly to: number
}

/** With the caret in a region it goes; selected words become the region, with those they touch. */
export function regionAfter(state: EditorState, range: Range | null, newId: () => string): RegionEdit | null {
  const { main } = state.selection
  const there = spansTouching(state, main, "region")
  const [first] = there
  const isSame = range !== null && first !== undefined && range.from === first.from && range.to === first.to
  if (first !== undefined && (main.empty || isSame)) {
    return { removed: there.map(({ id }) => id), added: [], words: "No longer a region." }
  }
  if (range === null) return null
  if (first === undefined) {
    const span: Span = { id: newId(), kind: "region", ...aroundLocks(state, range), settings: {} }
    return { removed: [], added: [span], words: "Marked as a region." }
  }
  const isInside = there.length === 1 && range.from >= first.from && range.to <= first.to
  const wanted = isInside ? range : unionOf([range, ...there])
  const words = isInside ? "Region made smaller." : there.length > 1 ? "Regions joined." : "Region made larger."
  return { removed: there.slice(1).map(({ id }) => id), added: [resized(state, first, wanted)], words }
}

/** A region over another stretch; what it holds is no longer a blank. */
export function resized(state: EditorState, span: Span, range: Range): Span {
  const settings = Object.fromEntries(Object.entries(span.settings).filter(([key]) => key !== "blank" && key !== "name"))
  return { ...span, ...aroundLocks(state, range), settings }
}

/** What of a range can be marked: no white space at its ends. Null when nothing is left. */
export function trimmed(state: EditorState, range: Range): Range | null {
  const text = state.sliceDoc(range.from, range.to)
  const from = range.from + (text.length - text.trimStart().length)
  const to = range.to - (text.length - text.trimEnd().length)
  return from < to ? { from, to } : null
}

function unionOf(ranges: readonly Range[]): Range {
  return { from: Math.min(...ranges.map(({ from }) => from)), to: Math.max(...ranges.map(({ to }) => to)) }
}

/** A lock lies wholly in a region or wholly outside: one that is cut is taken in. */
function aroundLocks(state: EditorState, range: Range): Range {
  const locks = spansOfKind(state, "locked").filter(({ from, to }) => from < range.to && to > range.from)
  return unionOf([range, ...locks])
}
