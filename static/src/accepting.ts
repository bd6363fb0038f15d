/** Turns accepted suggestions into one local change: one edit, one undo step, sent as `accept`. */

import { isolateHistory } from "@codemirror/commands"
import type { EditorState, TransactionSpec } from "@codemirror/state"
import { randomId } from "./outbox"
import { chosenText, type OpenSuggestion, openSuggestions, placeOf } from "./review"
import { acceptIntent } from "./sender"

export interface Accepted {
  /** Null when none can be placed. */
  readonly transaction: TransactionSpec | null
  readonly placedIds: readonly string[]
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
  const placedIds = placed.map(({ suggestion }) => suggestion.wire.id)
  if (placed.length === 0) return { transaction: null, placedIds, left }
  const alternatives = Object.fromEntries(placed.map(({ suggestion }) => [suggestion.wire.id, suggestion.chosen]))
  const transaction: TransactionSpec = {
    changes: placed.map(({ suggestion, span }) => ({
      from: span.from,
      to: span.to,
      insert: state.toText(chosenText(suggestion)),
    })),
    annotations: [
      acceptIntent.of({ opId: randomId(), suggestionIds: [...placedIds], alternatives }),
      isolateHistory.of("full"),
    ],
    userEvent: "input.accept",
    filter: false,
  }
  return { transaction, placedIds, left }
}
