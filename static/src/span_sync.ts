/** Between the server's spans and the editor's: positions over unsent edits, and ops to send. Pure. */

import { sendableUpdates } from "@codemirror/collab"
import { ChangeSet, type EditorState, type Transaction } from "@codemirror/state"
import type { SpanWire } from "./protocol.gen"
import { addSpan, mapSpan, removeSpan, type Span, spanById } from "./spans"

/** The server's positions are those of its text, `baseLength` long; unsent edits moved on from it. */
export function placeServerSpans(wires: readonly SpanWire[], state: EditorState, baseLength: number): Span[] {
  const unsent = sendableUpdates(state).map((update) => update.changes)
  const changes = unsent.reduce((all, one) => all.compose(one), ChangeSet.empty(baseLength))
  return wires
    .filter((span) => span.to <= baseLength)
    .map((span) => mapSpan(span, changes))
    .filter((span) => span.from < span.to)
}

/** The op that tells the server of a transaction's span effects, or null when it has none. */
export function spanOpOf(transaction: Transaction): { add: string[]; remove: string[] } | null {
  const add: string[] = []
  const remove: string[] = []
  for (const effect of transaction.effects) {
    if (effect.is(addSpan)) add.push(effect.value.id)
    else if (effect.is(removeSpan)) remove.push(effect.value)
  }
  if (add.length === 0 && remove.length === 0) return null
  // An id that exists already is replaced: removed and added in one op.
  const replaced = add.filter((id) => spanById(transaction.startState, id) !== undefined)
  return { add, remove: [...remove, ...replaced] }
}
