/**
 * A finished run as something to look through: words by pass, when each pass came, what changed.
 *
 * Pure. A position is the place of a word in its region, counted over all regions in text order;
 * passes may have different numbers of words. Nothing here is a probability.
 */

import { draftOf, piecesOf, type PieceKind } from "./drafts"
import type { PassFrame } from "./protocol.gen"
import type { RunRecord } from "./run_model"

export interface ReplayWord {
  readonly text: string
  readonly kind: PieceKind
  /** Says something else than in the pass before, which was no blank either. */
  readonly isChanged: boolean
}

export interface ReplayPass {
  readonly pass: number
  readonly atMs: number
  readonly frame: PassFrame
  /** Words of all regions, in order. */
  readonly words: readonly ReplayWord[]
}

export interface Replay {
  readonly run: RunRecord
  readonly passes: readonly ReplayPass[]
  readonly maxPasses: number
  /** Most words that any pass has. */
  readonly numPositions: number
}

export function replayOf(run: RunRecord): Replay {
  const passes: ReplayPass[] = []
  run.passes.forEach((frame, index) => {
    const before = passes.at(-1)?.words ?? []
    const words = wordsOf(frame).map((word, at) => ({ ...word, isChanged: isChange(before[at], word) }))
    passes.push({ pass: frame.pass, atMs: run.arrivals[index] ?? 0, frame, words })
  })
  const numPositions = passes.reduce((most, { words }) => Math.max(most, words.length), 1)
  return { run, passes, maxPasses: run.maxPasses, numPositions }
}

const RANK: Record<PieceKind, number> = { blank: 0, open: 1, settled: 2, stable: 3 }

/** The words of a pass; one that is partly settled counts as its least settled part. */
function wordsOf(frame: PassFrame): { text: string; kind: PieceKind }[] {
  return frame.regions.flatMap((region) => {
    const words: { text: string; kind: PieceKind }[] = []
    let isOpenWord = false
    for (const { kind, text } of piecesOf(draftOf(region, ""))) {
      for (const [part] of text.matchAll(/\s+|\S+/gu)) {
        const last = words.at(-1)
        if (part.trim() === "") isOpenWord = false
        else if (kind === "blank") {
          words.push(...[...part].map((glyph) => ({ text: glyph, kind })))
          isOpenWord = false
        } else if (isOpenWord && last !== undefined) {
          words[words.length - 1] = { text: last.text + part, kind: RANK[kind] < RANK[last.kind] ? kind : last.kind }
        } else {
          words.push({ text: part, kind })
          isOpenWord = true
        }
      }
    }
    return words
  })
}

function isChange(before: { text: string; kind: PieceKind } | undefined, now: { text: string; kind: PieceKind }): boolean {
  return before !== undefined && before.kind !== "blank" && now.kind !== "blank" && before.text !== now.text
}

/** The index of the newest pass at a moment; 0 before the first. */
export function passAt({ passes }: Replay, atMs: number): number {
  return Math.max(0, passes.findLastIndex((one) => one.atMs <= atMs))
}

export interface RestlessWord {
  /** 1-based position. */
  readonly position: number
  /** What stands there in the end. */
  readonly text: string
  readonly numChanges: number
  readonly lastPass: number
}

/** Positions that changed more than once, or late; most changes first. */
export function restlessWords({ passes }: Replay): RestlessWord[] {
  const last = passes.at(-1)
  if (last === undefined) return []
  return last.words
    .map(({ text }, at) => {
      const changed = passes.filter(({ words }) => words[at]?.isChanged)
      return { position: at + 1, text, numChanges: changed.length, lastPass: changed.at(-1)?.pass ?? 0 }
    })
    .filter(({ numChanges, lastPass }) => numChanges > 1 || lastPass > last.pass * 0.7)
    .filter(({ numChanges }) => numChanges > 0)
    .sort((a, b) => b.numChanges - a.numChanges || b.lastPass - a.lastPass)
}

const MOST_TOLD = 4

/** A pass as a sentence, for the ear. With `isMasked`, positions instead of words. */
export function sentenceOf(replay: Replay, index: number, isMasked: boolean): string {
  const now = replay.passes[index]
  if (now === undefined) return ""
  const before = replay.passes[index - 1]?.words ?? []
  const numSettled = now.words.filter(({ kind }) => kind === "settled" || kind === "stable").length
  const numBlank = now.words.filter(({ kind }) => kind === "blank").length
  const blanks = numBlank === 0 ? "" : `, ${numBlank} still blank`
  const start = `Pass ${now.pass} of ${replay.maxPasses}: ${numSettled} of ${now.words.length} words settled${blanks}.`
  const changed = now.words.flatMap(({ text, isChanged }, at) => (isChanged ? [{ at, text }] : []))
  if (changed.length === 0) return start
  const told = changed.slice(0, MOST_TOLD)
  const more = changed.length > told.length ? ` And ${changed.length - told.length} more.` : ""
  if (isMasked) return `${start} Changed: word ${told.map(({ at }) => at + 1).join(", ")}.${more}`
  return `${start} ${told.map(({ at, text }) => `“${before[at]?.text ?? ""}” became “${text}”`).join("; ")}.${more}`
}

export function shareSettledAt(replay: Replay, index: number): number {
  const words = replay.passes[index]?.words ?? []
  const settled = words.filter(({ kind }) => kind === "settled" || kind === "stable").length
  return words.length === 0 ? 0 : Math.round((settled / words.length) * 100)
}
