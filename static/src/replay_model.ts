/**
 * A finished run as something to look through: words by pass, when each pass came, what changed.
 *
 * Pure. A position is the place of a word in its region, counted over all regions in text order; a
 * region keeps as many positions as its longest pass has words, so that a word is only ever set
 * against its own place. Nothing here is a probability.
 */

import { draftOf, piecesOf, type PieceKind } from "./drafts"
import type { PassFrame, RegionFrame } from "./protocol.gen"
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
  /** One entry for each position, null where this pass has no word. */
  readonly words: readonly (ReplayWord | null)[]
}

export interface Replay {
  readonly run: RunRecord
  readonly passes: readonly ReplayPass[]
  readonly maxPasses: number
  readonly numPositions: number
  /** Positions at which a region begins. */
  readonly starts: ReadonlySet<number>
}

export function replayOf(run: RunRecord): Replay {
  const result = resultFrame(run)
  const frames = result === null ? run.passes : [...run.passes, result]
  const byPass = frames.map(({ regions }) => regions.map(wordsOf))
  // A region that was left during the run has no words in later passes.
  const numRegions = Math.max(0, ...byPass.map((regions) => regions.length))
  const widths = Array.from({ length: numRegions }, (_, at) => Math.max(1, ...byPass.map((regions) => regions[at]?.length ?? 0)))
  const passes: ReplayPass[] = []
  frames.forEach((frame, index) => {
    const before = passes.at(-1)?.words ?? []
    const placed = widths.flatMap((width, at) => Array.from({ length: width }, (_, word) => byPass[index]?.[at]?.[word] ?? null))
    const words = placed.map((word, at) => word && { ...word, isChanged: isChange(before[at], word) })
    passes.push({ pass: frame.pass, atMs: run.arrivals[index] ?? run.endedAtMs, frame, words })
  })
  const starts = new Set(widths.map((_, at) => widths.slice(0, at).reduce((sum, width) => sum + width, 0)))
  return { run, passes, maxPasses: run.maxPasses, numPositions: widths.reduce((sum, width) => sum + width, 0), starts }
}

/** The last pass may have been dropped on its way: what the run offers stands for it. */
function resultFrame({ passes, results, ended }: RunRecord): PassFrame | null {
  const last = passes.at(-1)
  if (last === undefined || ended?.state !== "finished" || results.size === 0) return null
  const regions = last.regions.map((region): RegionFrame => {
    const text = results.get(region.span_id) ?? region.text
    return { ...region, text, settled: [[0, text.length]], stable_prefix: text.length }
  })
  const isShown = regions.every(({ text }, at) => {
    const shown = last.regions[at]
    return shown?.text === text && shown.stable_prefix === text.length
  })
  return isShown ? null : { ...last, pass: Math.max(last.pass, ended.passes), regions }
}

const RANK: Record<PieceKind, number> = { blank: 0, open: 1, settled: 2, stable: 3 }

/** The words of a region; one that is partly settled counts as its least settled part. */
function wordsOf(region: RegionFrame): Word[] {
  const words: Word[] = []
  let isInWord = false
  for (const { kind, text } of piecesOf(draftOf(region, ""))) {
    for (const [part] of text.matchAll(/\s+|\S+/gu)) {
      const last = words.at(-1)
      const isSpace = part.trim() === ""
      if (kind === "blank" && !isSpace) words.push(...[...part].map((glyph) => ({ text: glyph, kind })))
      else if (!isSpace && isInWord && last !== undefined) {
        words[words.length - 1] = { text: last.text + part, kind: RANK[kind] < RANK[last.kind] ? kind : last.kind }
      } else if (!isSpace) words.push({ text: part, kind })
      isInWord = !isSpace && kind !== "blank"
    }
  }
  return words
}

interface Word {
  readonly text: string
  readonly kind: PieceKind
}

function isChange(before: Word | null | undefined, now: Word): boolean {
  return before != null && before.kind !== "blank" && now.kind !== "blank" && before.text !== now.text
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
    .flatMap((word, at) => {
      if (word === null) return []
      const changed = passes.filter(({ words }) => words[at]?.isChanged)
      return [{ position: at + 1, text: word.text, numChanges: changed.length, lastPass: changed.at(-1)?.pass ?? 0 }]
    })
    .filter(({ numChanges, lastPass }) => numChanges > 1 || lastPass > last.pass * 0.7)
    .filter(({ numChanges }) => numChanges > 0)
    .sort((a, b) => b.numChanges - a.numChanges || b.lastPass - a.lastPass)
}

const MOST_TOLD = 4

/** How many passes there are in all, as far as is known. */
export function lastPass({ passes, maxPasses, run }: Replay): number {
  return run.ended === null ? maxPasses : (passes.at(-1)?.pass ?? maxPasses)
}

/** A pass as a sentence, for the ear. With `isMasked`, positions instead of words. */
export function sentenceOf(replay: Replay, index: number, isMasked: boolean): string {
  const now = replay.passes[index]
  if (now === undefined) return ""
  const before = replay.passes[index - 1]?.words ?? []
  const words = present(now)
  const numSettled = words.filter(isSettled).length
  const numBlank = words.filter(({ kind }) => kind === "blank").length
  const blanks = numBlank === 0 ? "" : `, ${numBlank} still blank`
  const start = `Pass ${now.pass} of ${lastPass(replay)}: ${numSettled} of ${words.length} words settled${blanks}.`
  const changed = now.words.flatMap((word, at) => (word?.isChanged ? [{ at, text: word.text }] : []))
  if (changed.length === 0) return start
  const told = changed.slice(0, MOST_TOLD)
  const more = changed.length > told.length ? ` And ${changed.length - told.length} more.` : ""
  if (isMasked) return `${start} Changed: word ${told.map(({ at }) => at + 1).join(", ")}.${more}`
  return `${start} ${told.map(({ at, text }) => `“${before[at]?.text ?? ""}” became “${text}”`).join("; ")}.${more}`
}

/** The words a pass has. */
export function present({ words }: ReplayPass): ReplayWord[] {
  return words.filter((word) => word !== null)
}

const isSettled = ({ kind }: ReplayWord): boolean => kind === "settled" || kind === "stable"

/** Percent of the words of a pass that are settled. */
export function shareSettledAt(pass: ReplayPass): number {
  const words = present(pass)
  return words.length === 0 ? 0 : Math.round((words.filter(isSettled).length / words.length) * 100)
}
