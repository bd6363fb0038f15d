/**
 * Locks, regions and fields as the browser knows them: mapped through every edit, undoable,
 * and marked while the server has not confirmed them.
 *
 * The server is the authority: `receiveSpans` replaces everything it has confirmed. Positions are
 * UTF-16 units of the current document. Text typed at an edge stays outside a span; no span is
 * empty, so one whose text is deleted goes, and comes back when that is undone.
 */

import { invertedEffects } from "@codemirror/commands"
import {
  type ChangeDesc,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  type Transaction,
} from "@codemirror/state"

export interface Span {
  readonly id: string
  readonly kind: "locked" | "region" | "field"
  readonly from: number
  readonly to: number
  readonly settings: Readonly<Record<string, unknown>>
}

interface SpansValue {
  /** Ordered by start. */
  readonly spans: readonly Span[]
  /** Ids added here that the server has not confirmed. */
  readonly added: ReadonlySet<string>
  /** Ids removed here that the server has not confirmed. */
  readonly removed: ReadonlySet<string>
}

export function mapSpan(span: Span, changes: ChangeDesc): Span {
  const from = changes.mapPos(span.from, 1)
  // A field takes what is typed at its end, where its value is being written.
  const to = Math.max(from, changes.mapPos(span.to, span.kind === "field" ? 1 : -1))
  return from === span.from && to === span.to ? span : { ...span, from, to }
}

/** Adds a span, or replaces the one of the same id. Undoable. */
export const addSpan = StateEffect.define<Span>({ map: mapSpan })
/** Removes the span of this id. Undoable. */
export const removeSpan = StateEffect.define<string>()
/** What the server holds now. Never part of the undo history. */
export const receiveSpans = StateEffect.define<readonly Span[]>({
  map: (spans, changes) => spans.map((span) => mapSpan(span, changes)),
})
/** The server answered for these ids: they are no longer this browser's word only. */
export const settleSpans = StateEffect.define<readonly string[]>()

const NO_IDS: ReadonlySet<string> = new Set()

export const spansField = StateField.define<SpansValue>({
  create: () => ({ spans: [], added: NO_IDS, removed: NO_IDS }),
  update(value, transaction) {
    let next = value
    if (transaction.docChanged) {
      const moved = next.spans.map((span) => mapSpan(span, transaction.changes))
      next = { ...next, spans: moved.filter((span) => span.from < span.to) }
    }
    for (const effect of transaction.effects) {
      if (effect.is(addSpan)) next = withSpan(next, effect.value)
      else if (effect.is(removeSpan)) next = withoutSpan(next, effect.value)
      else if (effect.is(settleSpans)) next = settled(next, effect.value)
      else if (effect.is(receiveSpans)) next = merged(next, effect.value)
    }
    return next
  },
})

const byStart = (a: Span, b: Span): number => a.from - b.from || a.to - b.to

function withSpan(value: SpansValue, span: Span): SpansValue {
  const spans = [...value.spans.filter((other) => other.id !== span.id), span].sort(byStart)
  return {
    spans,
    added: new Set([...value.added, span.id]),
    removed: new Set([...value.removed].filter((id) => id !== span.id)),
  }
}

function withoutSpan(value: SpansValue, id: string): SpansValue {
  return {
    spans: value.spans.filter((span) => span.id !== id),
    added: new Set([...value.added].filter((other) => other !== id)),
    removed: new Set([...value.removed, id]),
  }
}

function settled(value: SpansValue, ids: readonly string[]): SpansValue {
  const isOpen = (id: string): boolean => !ids.includes(id)
  return {
    spans: value.spans,
    added: new Set([...value.added].filter(isOpen)),
    removed: new Set([...value.removed].filter(isOpen)),
  }
}

function merged(value: SpansValue, fromServer: readonly Span[]): SpansValue {
  const mine = value.spans.filter((span) => value.added.has(span.id))
  const theirs = fromServer.filter((span) => !value.added.has(span.id) && !value.removed.has(span.id))
  return { ...value, spans: [...theirs, ...mine].sort(byStart) }
}

/** What undo has to bring back: spans removed by hand, and spans whose text was deleted. */
function invertSpanEffects(transaction: Transaction): readonly StateEffect<unknown>[] {
  const before = transaction.startState.field(spansField).spans
  const found: StateEffect<unknown>[] = []
  const find = (id: string): Span | undefined => before.find((span) => span.id === id)
  for (const effect of transaction.effects) {
    if (effect.is(addSpan)) {
      const replaced = find(effect.value.id)
      found.push(replaced ? addSpan.of(replaced) : removeSpan.of(effect.value.id))
    } else if (effect.is(removeSpan)) {
      const removed = find(effect.value)
      if (removed) found.push(addSpan.of(removed))
    }
  }
  if (!transaction.docChanged) return found
  // Accepting makes a blank an ordinary region; undoing it makes it a blank again.
  const isAccept = transaction.isUserEvent("input.accept")
  for (const span of before) {
    if (!transaction.changes.touchesRange(span.from, span.to)) continue
    const after = mapSpan(span, transaction.changes)
    if (after.from === after.to || (isAccept && span.kind === "region")) found.push(addSpan.of(span))
  }
  return found
}

export function spansOf(state: EditorState): readonly Span[] {
  return state.field(spansField).spans
}

export function spanById(state: EditorState, id: string): Span | undefined {
  return spansOf(state).find((span) => span.id === id)
}

export function spansOfKind(state: EditorState, kind: Span["kind"]): readonly Span[] {
  return spansOf(state).filter((span) => span.kind === kind)
}

/** The spans of one kind that a range overlaps or, for an empty range, lies in or against. */
export function spansTouching(
  state: EditorState,
  range: { from: number; to: number },
  kind: Span["kind"],
): readonly Span[] {
  const isEmpty = range.from === range.to
  return spansOfKind(state, kind).filter((span) =>
    isEmpty
      ? span.from <= range.to && span.to >= range.from
      : span.from < range.to && span.to > range.from,
  )
}

export function spanSupport(): Extension {
  return [spansField, invertedEffects.of(invertSpanEffects)]
}
