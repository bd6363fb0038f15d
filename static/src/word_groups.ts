/**
 * Cuts several versions of one text into word groups: the places where any of them differs from a
 * base, with each version's words there. Pure; positions are UTF-16 units of the base.
 *
 * Versions that change overlapping words share a group, so that groups can be picked apart: any
 * mix of picks reads as if one version had said it.
 */

import { diffWords, type Hunk } from "./diff"

export interface WordGroup {
  /** What of the base it stands for: [from, to). */
  readonly from: number
  readonly to: number
  /** Each version's words there, by the version's index; the base's own where it changes nothing. */
  readonly options: readonly string[]
}

/** Picks the base's own words. */
export const BASE = -1

export function wordGroups(base: string, versions: readonly string[]): WordGroup[] {
  const hunks = versions.map((version) => diffWords(base, version))
  const ranges = hunks.flat().sort((a, b) => a.from - b.from || a.to - b.to)
  const joined: { from: number; to: number }[] = []
  for (const { from, to } of ranges) {
    const last = joined.at(-1)
    // An insertion belongs to the words it touches; words that only touch stay apart.
    const isInsertion = from === to || last?.from === last?.to
    const isSame = last !== undefined && (from < last.to || (isInsertion && from === last.to))
    if (isSame) last.to = Math.max(last.to, to)
    else joined.push({ from, to })
  }
  return joined.map(({ from, to }) => ({ from, to, options: hunks.map((own) => wordsIn(base, own, from, to)) }))
}

/** The base's stretch [from, to) with the hunks inside it applied. */
function wordsIn(base: string, hunks: readonly Hunk[], from: number, to: number): string {
  let [text, at] = ["", from]
  for (const hunk of hunks) {
    if (hunk.from < from || hunk.to > to) continue
    text += base.slice(at, hunk.from) + hunk.inserted
    at = hunk.to
  }
  return text + base.slice(at, to)
}

/** The words picked for a group. */
export function pickedWords(base: string, group: WordGroup, pick: number): string {
  return group.options[pick] ?? base.slice(group.from, group.to)
}

/** The base with each group's pick in its place. */
export function compose(base: string, groups: readonly WordGroup[], picks: readonly number[]): string {
  let [text, at] = ["", 0]
  groups.forEach((group, index) => {
    text += base.slice(at, group.from) + pickedWords(base, group, picks[index] ?? BASE)
    at = group.to
  })
  return text + base.slice(at)
}

/** The different words a group offers, each with the first version that says it. */
export function offers(base: string, group: WordGroup): { words: string; pick: number }[] {
  const own = base.slice(group.from, group.to)
  const found = [{ words: own, pick: BASE }]
  group.options.forEach((words, pick) => {
    if (!found.some((one) => one.words === words)) found.push({ words, pick })
  })
  return found
}
