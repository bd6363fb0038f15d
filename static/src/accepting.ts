/** Turns accepted suggestions into one local change: one edit, one undo step, sent as `accept`. */

import { isolateHistory } from "@codemirror/commands"
import type { EditorState, Text, TransactionSpec } from "@codemirror/state"
import { diffWords } from "./diff"
import { randomId } from "./outbox"
import { type Choice, type OpenSuggestion, openSuggestions, placeOf, pureChoice, suggestedText } from "./review"
import { acceptIntent } from "./sender"
import type { Span } from "./spans"

export interface Accepted {
  /** Null when none can be placed. */
  readonly transaction: TransactionSpec | null
  /** Every suggestion this decides: those accepted, and older ones of the same regions. */
  readonly decidedIds: readonly string[]
  /** Suggestions whose region no longer holds the text they were made for. */
  readonly left: readonly OpenSuggestion[]
}

export function acceptSuggestions(state: EditorState, ids: readonly string[]): Accepted {
  const wanted = openSuggestions(state).filter((suggestion) => ids.includes(suggestion.wire.id))
  const placed = wanted.flatMap((suggestion) => {
    const span = placeOf(state, suggestion)
    return span === null ? [] : [{ suggestion, span }]
  })
  const left = wanted.filter((suggestion) => !placed.some((one) => one.suggestion === suggestion))
  const decidedIds = placed.flatMap(({ suggestion }) => suggestion.ids)
  if (placed.length === 0) return { transaction: null, decidedIds, left }
  const alternatives: Record<string, number> = {}
  const texts: Record<string, string> = {}
  const suggestionIds = placed.flatMap(({ suggestion }) => {
    const pure = pureChoice(suggestion)
    const choice: Choice | undefined = pure ?? suggestion.choices[suggestion.chosen]
    if (choice === undefined) return []
    if (pure === null) texts[choice.suggestionId] = suggestedText(suggestion)
    else alternatives[choice.suggestionId] = choice.index
    return [choice.suggestionId]
  })
  const transaction: TransactionSpec = {
    changes: placed.flatMap(({ suggestion, span }) => changesFor(suggestion, span, state)),
    annotations: [acceptIntent.of({ opId: randomId(), suggestionIds, alternatives, texts }), isolateHistory.of("full")],
    userEvent: "input.accept",
    filter: false,
  }
  return { transaction, decidedIds, left }
}

/** Word by word, so that locks and the caret inside a region keep their place; a blank goes whole. */
function changesFor(suggestion: OpenSuggestion, span: Span, state: EditorState): { from: number; to: number; insert: Text }[] {
  const text = suggestedText(suggestion)
  if (suggestion.isBlank) return [{ from: span.from, to: span.to, insert: state.toText(text) }]
  return diffWords(suggestion.wire.original, text).map((hunk) => ({
    from: span.from + hunk.from,
    to: span.from + hunk.to,
    insert: state.toText(hunk.inserted),
  }))
}
