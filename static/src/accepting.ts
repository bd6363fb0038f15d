/** Turns accepted suggestions into one local change: one edit, one undo step, sent as `accept`. */

import { isolateHistory } from "@codemirror/commands"
import type { EditorState, TransactionSpec } from "@codemirror/state"
import { randomId } from "./outbox"
import { chosenText, type OpenSuggestion, openSuggestions, placeOf } from "./review"
import { acceptIntent } from "./sender"

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
  const choices = placed.flatMap(({ suggestion }) => suggestion.choices[suggestion.chosen] ?? [])
  const suggestionIds = choices.map(({ suggestionId }) => suggestionId)
  const alternatives = Object.fromEntries(choices.map(({ suggestionId, index }) => [suggestionId, index]))
  const transaction: TransactionSpec = {
    changes: placed.map(({ suggestion, span }) => ({
      from: span.from,
      to: span.to,
      insert: state.toText(chosenText(suggestion)),
    })),
    annotations: [
      acceptIntent.of({ opId: randomId(), suggestionIds, alternatives }),
      isolateHistory.of("full"),
    ],
    userEvent: "input.accept",
    filter: false,
  }
  return { transaction, decidedIds, left }
}
