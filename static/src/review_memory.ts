/**
 * Remembers a half-finished review on this device: which words were picked, what was decided.
 *
 * Holds suggestion ids and small numbers, never words. Entries go with their suggestion.
 */

import type { OpenSuggestion } from "./review"

type Kept = Pick<OpenSuggestion, "chosen" | "picks" | "verdicts">

const KEY = "tideline.review"
const MOST_KEPT = 200

function readAll(): Record<string, Kept> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}")
    return typeof value === "object" && value !== null ? (value as Record<string, Kept>) : {}
  } catch {
    return {}
  }
}

/** Whether a person has done anything to this suggestion yet. */
function isTouched({ chosen, picks, verdicts }: Kept): boolean {
  return chosen !== 0 || picks.some((pick) => pick !== 0) || verdicts.some((verdict) => verdict !== "open")
}

export function keepChoices(open: readonly OpenSuggestion[]): void {
  const all = new Map(Object.entries(readAll()))
  const before = all.size
  for (const { ids, chosen, picks, verdicts } of open) {
    const key = ids.join()
    all.delete(key)
    if (isTouched({ chosen, picks, verdicts })) all.set(key, { chosen, picks, verdicts })
  }
  if (before === 0 && all.size === 0) return
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries([...all].slice(-MOST_KEPT))))
  } catch {
    // Not kept; the review works for this page.
  }
}

/** What was chosen for exactly these suggestions before, if it still fits them. */
export function keptChoices({ ids, choices, groups }: OpenSuggestion): Partial<Kept> {
  const kept = readAll()[ids.join()]
  const fits = kept !== undefined && kept.picks.length === groups.length && kept.chosen < choices.length
  return fits && kept.verdicts.length === groups.length ? kept : {}
}
