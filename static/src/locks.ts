/**
 * Keeps locked text as it is: typing, paste, cut, drag, replace and undo.
 *
 * A courtesy towards the writer, not the guard: the server checks every edit again. A change that
 * would touch a lock loses that part (deleting around a lock leaves the lock); one that would put
 * something against a locked word or number that changes what it says is refused whole. Every refusal is explained
 * at the caret.
 */

import {
  ChangeSet,
  EditorState,
  type Extension,
  StateEffect,
  StateField,
  type Text,
  type Transaction,
  type TransactionSpec,
} from "@codemirror/state"
import { showTooltip, type Tooltip, tooltips } from "@codemirror/view"
import { h } from "./dom"
import { attachedAfter, attachedBefore, isWordlike, reachAfter, reachBefore } from "./lock_edges"
import { type Span, spansOfKind } from "./spans"

export type Refusal = "touches_lock" | "joins_lock" | "undo_touches_lock"

const EXPLANATIONS: Record<Refusal, string> = {
  touches_lock: "This text is locked. Alt+Shift+L unlocks it.",
  joins_lock: "This would change the locked word or number. Put a space between.",
  undo_touches_lock: "Undo would change locked text. Unlock it first (Alt+Shift+L).",
}

export const refuse = StateEffect.define<Refusal>()

const NOTE_INSET_PX = 8
const FAR = 64 // characters: a change so far from a lock is not looked at more closely

/** Whether a change lets something run into a locked word or number that did not before. */
export function joinsLock(locks: readonly Span[], before: Text, changes: ChangeSet, after: Text): boolean {
  const starts = new Set<number>()
  const ends = new Set<number>()
  changes.iterChangedRanges((from, to) => {
    starts.add(from)
    ends.add(to)
  })
  const joins = (now: string | null, earlier: string | null, isTouched: boolean): boolean =>
    now !== null && (now !== earlier || (isTouched && isWordlike(now)))
  const first = Math.min(...starts)
  const last = Math.max(...ends)
  return locks.some((lock) => {
    if (lock.to + FAR < first || lock.from - FAR > last) return false
    const isStartNear = changes.touchesRange(reachBefore(before, lock.from), lock.from) !== false
    const isEndNear = changes.touchesRange(lock.to, reachAfter(before, lock.to)) !== false
    const from = changes.mapPos(lock.from, 1)
    const to = changes.mapPos(lock.to, -1)
    return (
      (isStartNear && joins(attachedBefore(after, from), attachedBefore(before, lock.from), ends.has(lock.from))) ||
      (isEndNear && joins(attachedAfter(after, to), attachedAfter(before, lock.to), starts.has(lock.to))) ||
      (isEndNear && isMark(after, to) && !isMark(before, lock.to))
    )
  })
}

/** Whether a combining mark stands at `at`, and so on the character before it. */
const isMark = (doc: Text, at: number): boolean => at > 0 && /^\p{M}/u.test(doc.sliceString(at, Math.min(doc.length, at + 2)))

/** Whether a change deletes, replaces or inserts inside a lock; its edges do not count. */
export function touchesLock(locks: readonly Span[], changes: ChangeSet): boolean {
  let touches = false
  changes.iterChangedRanges((from, to) => {
    for (const lock of locks) {
      if (from < lock.to && to > lock.from) touches = true
    }
  })
  return touches
}

/**
 * States whose current change lost a part to a lock. Set by the change filter and taken by the
 * transaction filter, which CodeMirror runs straight after it on the same transaction.
 */
const cutFrom = new WeakSet<EditorState>()

/** Keeps locked ranges out of every change a person makes. */
const keepLocked = EditorState.changeFilter.of(({ startState, changes }) => {
  const locks = spansOfKind(startState, "locked")
  if (!touchesLock(locks, changes)) return true
  cutFrom.add(startState)
  return locks.flatMap((lock) => [lock.from, lock.to])
})

type Filtered = TransactionSpec | readonly TransactionSpec[]

const explainAndGuardEdges = EditorState.transactionFilter.of((transaction): Filtered => {
  const { startState, changes, newDoc } = transaction
  const locks = spansOfKind(startState, "locked")
  if (cutFrom.delete(startState)) return keptApart(transaction, locks)
  if (!transaction.docChanged) return transaction
  if (!joinsLock(locks, startState.doc, changes, newDoc)) return transaction
  return spacedBeforeLock(transaction, locks) ?? { effects: refuse.of("joins_lock") }
})

/**
 * What is left of a change that would have touched locks. Its words may have come to stand right
 * before one, as when a text is pasted over everything: those get a space between.
 */
function keptApart(transaction: Transaction, locks: readonly Span[]): Filtered {
  const { startState, changes, newDoc } = transaction
  const explained = { effects: refuse.of("touches_lock") }
  if (!joinsLock(locks, startState.doc, changes, newDoc)) return [transaction, explained]
  const joined = locks.map(({ from }) => changes.mapPos(from, 1)).filter((at) => /^\p{L}/u.test(attachedBefore(newDoc, at) ?? ""))
  const spaces = ChangeSet.of(joined.map((from) => ({ from, insert: " " })), newDoc.length)
  if (joinsLock(locks, startState.doc, changes.compose(spaces), spaces.apply(newDoc))) return { effects: refuse.of("joins_lock") }
  return [transaction, { changes: spaces, sequential: true, ...explained }]
}

/**
 * A word typed straight before a locked one gets the space it needs, so that writing there is
 * possible at all. Digits do not: "1 5 mg" is not what "15 mg" was refused for.
 */
function spacedBeforeLock(transaction: Transaction, locks: readonly Span[]): TransactionSpec | null {
  const { from, empty } = transaction.startState.selection.main
  const isTyped = transaction.isUserEvent("input.type") && empty && locks.some((lock) => lock.from === from)
  if (!isTyped) return null
  let typed = ""
  transaction.changes.iterChanges((_fromA, _toA, _fromB, _toB, inserted) => (typed += inserted.toString()))
  if (!/^\p{L}+$/u.test(typed)) return null
  return {
    changes: { from, insert: `${typed} ` },
    selection: { anchor: from + typed.length },
    scrollIntoView: true,
    userEvent: "input.type",
  }
}

/**
 * Undo and redo bypass filters (CodeMirror dispatches them with `filter: false`), so they are
 * looked at here. Returns what may be dispatched.
 */
export function guardHistory(transaction: Transaction): Transaction {
  const isHistory = transaction.isUserEvent("undo") || transaction.isUserEvent("redo")
  if (!isHistory || !transaction.docChanged) return transaction
  const { startState } = transaction
  const locks = spansOfKind(startState, "locked")
  const isRefused =
    touchesLock(locks, transaction.changes) ||
    joinsLock(locks, startState.doc, transaction.changes, transaction.newDoc)
  return isRefused ? startState.update({ effects: refuse.of("undo_touches_lock") }) : transaction
}

interface RefusalValue {
  readonly refusal: Refusal
  readonly at: number
}

const refusalField = StateField.define<RefusalValue | null>({
  create: () => null,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(refuse)) return { refusal: effect.value, at: transaction.newSelection.main.head }
    }
    return transaction.docChanged || transaction.selection ? null : value
  },
  provide: (field) =>
    showTooltip.from(field, (value): Tooltip | null =>
      value === null
        ? null
        : { pos: value.at, above: true, arrow: false, create: () => ({ dom: refusalNote(value.refusal) }) },
    ),
})

/** Notes stay over the paper: beside it they would cover a panel. */
const noteSpace = tooltips({
  tooltipSpace: (view) => {
    const { left, right } = view.scrollDOM.getBoundingClientRect()
    return { top: 0, left: left + NOTE_INSET_PX, right: right - NOTE_INSET_PX, bottom: window.innerHeight }
  },
})

function refusalNote(refusal: Refusal): HTMLElement {
  return h("div", { class: "tl-refusal" }, EXPLANATIONS[refusal])
}

export function refusalOf(transaction: Transaction): string | null {
  for (const effect of transaction.effects) {
    if (effect.is(refuse)) return EXPLANATIONS[effect.value]
  }
  return null
}

/** Text from a clipboard or an input method may hold half a character; the server takes none. */
const wellFormed = EditorState.transactionFilter.of((transaction) => {
  if (!transaction.docChanged) return transaction
  let isBroken = false
  transaction.changes.iterChanges((_fromA, _toA, _fromB, _toB, inserted) => {
    const text = inserted.toString()
    if (!text.isWellFormed() || text.includes("\0")) isBroken = true
  })
  return isBroken ? [] : transaction
})

export function lockSupport(): Extension {
  return [keepLocked, explainAndGuardEdges, wellFormed, refusalField, noteSpace]
}
