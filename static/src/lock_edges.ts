/**
 * What stands directly against a locked text and changes what it says: `15`, `-5`, `5%` for `5`.
 *
 * The twin of editor/document/lock_edges.py: what this lets through the server must too, or a
 * keystroke would come back as a conflict. Invisible characters are looked through.
 */

import type { Text } from "@codemirror/state"

const INVISIBLE = /[\p{Cf}\p{Cc}]/u
const WORDLIKE = /[\p{L}\p{N}\p{M}]/u
const NUMERIC = /\p{N}/u
const DASH = /[-\u2010-\u2013\u2212\ufe63\uff0d]/u
const SIGN = /[-\u2010-\u2013\u2212\ufe63\uff0d+±∓~≈<>≤≥^×÷√\p{Sc}]/u
const UNIT = /[%‰‱°′″+±×÷^\p{Sc}]/u
const POINT = /[.,:'’·٫٬]/u
const SLASH = /[/\u2044\u2215]/u

const isInvisible = (sign: string): boolean => INVISIBLE.test(sign) && sign !== "\n" && sign !== "\t"
export const isWordlike = (sign: string): boolean => WORDLIKE.test(sign)

interface Side {
  /** Up to two visible characters, the nearest first. */
  readonly signs: readonly string[]
  /** Where the last of them ends. */
  readonly at: number
}

/** Looks at `doc` from `at` in one direction; a stretch at a time, since most need one only. */
function look(doc: Text, at: number, step: -1 | 1): Side {
  const signs: string[] = []
  while (signs.length < 2) {
    const end = Math.max(0, Math.min(doc.length, at + step * 8))
    if (end === at) break
    const stretch = [...doc.sliceString(Math.min(at, end), Math.max(at, end))]
    // A pair may be cut at the far end; that character is read with the next stretch.
    const whole = stretch.length > 1 ? stretch.slice(step < 0 ? 1 : 0, step < 0 ? undefined : -1) : stretch
    for (const sign of step < 0 ? whole.reverse() : whole) {
      at += step * sign.length
      if (!isInvisible(sign)) signs.push(sign)
      if (signs.length === 2) break
    }
  }
  return { signs, at }
}

/** The range around a lock in which a change can matter to its edges. */
export function reachBefore(doc: Text, from: number): number {
  return look(doc, from, -1).at
}

export function reachAfter(doc: Text, to: number): number {
  return look(doc, to, 1).at
}

/** What stands behind `at` and belongs to the word or number that ends there, or null. */
export function attachedAfter(doc: Text, at: number): string | null {
  const [last, beforeLast = " "] = look(doc, at, -1).signs
  const [first, second = " "] = look(doc, at, 1).signs
  if (last === undefined || first === undefined) return null
  if (isWordlike(last) && isWordlike(first)) return first
  if (NUMERIC.test(last)) {
    const goesOn =
      UNIT.test(first) ||
      (POINT.test(first) && NUMERIC.test(second)) ||
      ((DASH.test(first) || SLASH.test(first)) && isWordlike(second))
    return goesOn ? first + second : null
  }
  const isOpen = NUMERIC.test(beforeLast) && (POINT.test(last) || SLASH.test(last) || DASH.test(last))
  return isOpen && NUMERIC.test(first) ? first : null
}

/** What stands before `at` and belongs to the word or number that begins there, or null. */
export function attachedBefore(doc: Text, at: number): string | null {
  const [first, second = " "] = look(doc, at, 1).signs
  const [last, beforeLast = " "] = look(doc, at, -1).signs
  if (first === undefined || last === undefined) return null
  if (isWordlike(first) && isWordlike(last)) return last
  if (NUMERIC.test(first)) {
    const leadsIn =
      SIGN.test(last) ||
      (SLASH.test(last) && isWordlike(beforeLast)) ||
      (POINT.test(last) && (NUMERIC.test(beforeLast) || (/[.٫]/u.test(last) && !isWordlike(beforeLast))))
    return leadsIn ? beforeLast + last : null
  }
  const isSigned = NUMERIC.test(second) && (SIGN.test(first) || POINT.test(first))
  return isSigned && (NUMERIC.test(last) || SIGN.test(last)) ? last : null
}
