/** The five words about saving, derived from facts; nothing else may say "Saved". */

import type { LinkState } from "./connection"

export interface SaveFacts {
  link: LinkState
  /** Edits the server has not yet acknowledged. */
  unacknowledged: number
  /** Version of the last acknowledged text; null before the first welcome. */
  version: number | null
  hasConflictCopy: boolean
  /** Whether the device's own store took the unacknowledged edits. */
  isKeptOnDevice: boolean
}

export type SaveKind = "saved" | "saving" | "offline" | "conflict" | "unsaved" | "opening"

export interface SaveState {
  kind: SaveKind
  words: string
}

export function describeSave(facts: SaveFacts): SaveState {
  if (facts.hasConflictCopy) return { kind: "conflict", words: "Conflict – your copy kept" }
  if (facts.unacknowledged > 0 && !facts.isKeptOnDevice && facts.link !== "open") {
    return { kind: "unsaved", words: "Not saved – copy your text" }
  }
  if (facts.link !== "open") {
    if (facts.version === null && facts.link === "connecting") return { kind: "opening", words: "Opening…" }
    return { kind: "offline", words: "Offline – kept on this device" }
  }
  if (facts.unacknowledged > 0) return { kind: "saving", words: "Saving…" }
  if (facts.version === null) return { kind: "opening", words: "Opening…" }
  return { kind: "saved", words: `Saved (r${facts.version})` }
}
