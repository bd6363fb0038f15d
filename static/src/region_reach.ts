/**
 * How far an edge of a region may be dragged, and where it comes to rest. Pure.
 *
 * An edge stays between whole characters and never crosses a lock or another span; what is left
 * holds at least one character that is not white space. Positions are UTF-16 units.
 */

import type { EditorState } from "@codemirror/state"
import { trimmed } from "./region_edits"
import { type Span, spansOf } from "./spans"

export type Edge = "from" | "to"

interface Range {
  readonly from: number
  readonly to: number
}

/** The region with one edge taken to `at`, or as near to it as may be. */
export function reached(state: EditorState, span: Span, edge: Edge, at: number): Range {
  const { least, most } = reachOf(state, span, edge)
  const end = wholeCharacter(state, Math.max(least, Math.min(most, at)), edge === "from" ? -1 : 1)
  const range = edge === "from" ? { from: end, to: span.to } : { from: span.from, to: end }
  return trimmed(state, range) ?? span
}

/** Locks within the region stay within, those without stay without. */
function reachOf(state: EditorState, span: Span, edge: Edge): { least: number; most: number } {
  const others = spansOf(state).filter(({ id }) => id !== span.id)
  const inside = others.filter(({ from, to }) => from >= span.from && to <= span.to)
  if (edge === "to") {
    return {
      least: Math.max(span.from, ...inside.map(({ to }) => to)),
      most: Math.min(state.doc.length, ...others.filter(({ from }) => from >= span.to).map(({ from }) => from)),
    }
  }
  return {
    least: Math.max(0, ...others.filter(({ to }) => to <= span.from).map(({ to }) => to)),
    most: Math.min(span.to, ...inside.map(({ from }) => from)),
  }
}

/** `at`, moved out of the character it may stand in: back with -1, on with 1. */
function wholeCharacter(state: EditorState, at: number, side: -1 | 1): number {
  const line = state.doc.lineAt(at)
  const found = new Intl.Segmenter().segment(line.text).containing(at - line.from)
  if (found === undefined || found.index === at - line.from) return at
  return line.from + found.index + (side < 0 ? 0 : found.segment.length)
}
