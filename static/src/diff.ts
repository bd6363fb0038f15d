/**
 * Word-level differences. Pure; a one-word edit marks one word, white space is kept visible.
 *
 * Positions are UTF-16 units. Long texts are compared by lines first, so that cost stays bounded.
 */

export interface Hunk {
  /** What of the old text goes: [from, to). */
  readonly from: number
  readonly to: number
  /** What comes in its place. */
  readonly inserted: string
}

const WORDS = /[\p{L}\p{M}\p{N}_]+(?:['’-][\p{L}\p{M}\p{N}_]+)*|\s|[^\s]/gu
const MOST_CELLS = 1_500_000

/** The smallest set of whole-word replacements that turns `before` into `after`. */
export function diffWords(before: string, after: string): Hunk[] {
  return diffTokens(tokens(before, WORDS), tokens(after, WORDS))
}

/** The lines that differ; each hunk holds whole lines, line ends included. */
export function diffLines(before: string, after: string): Hunk[] {
  return diffTokens(before.split(/(?<=\n)/), after.split(/(?<=\n)/))
}

/** The same for whole documents: lines first, then words inside the lines that differ. */
export function diffDocuments(before: string, after: string): Hunk[] {
  return diffLines(before, after).flatMap((hunk) =>
    diffWords(before.slice(hunk.from, hunk.to), hunk.inserted).map((inner) => ({
      from: hunk.from + inner.from,
      to: hunk.from + inner.to,
      inserted: inner.inserted,
    })),
  )
}

function tokens(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? []
}

function diffTokens(a: readonly string[], b: readonly string[]): Hunk[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let endA = a.length
  let endB = b.length
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--
    endB--
  }
  const offset = lengthOf(a.slice(0, start))
  const middleA = a.slice(start, endA)
  const middleB = b.slice(start, endB)
  if (middleA.length === 0 && middleB.length === 0) return []
  if (middleA.length * middleB.length > MOST_CELLS) {
    return [{ from: offset, to: offset + lengthOf(middleA), inserted: middleB.join("") }]
  }
  return joinAcrossSpaces(collect(middleA, middleB, offset), a.join(""))
}

const lengthOf = (parts: readonly string[]): number => parts.reduce((sum, part) => sum + part.length, 0)

/** Walks the longest common subsequence of tokens. */
function collect(a: readonly string[], b: readonly string[], offset: number): Hunk[] {
  const common = commonLengths(a, b)
  const width = b.length + 1
  const at = (i: number, j: number): number => common[i * width + j] ?? 0
  const hunks: Hunk[] = []
  let [i, j, position] = [0, 0, offset]
  while (i < a.length || j < b.length) {
    const [startI, startJ, from] = [i, j, position]
    while ((i < a.length || j < b.length) && !(i < a.length && j < b.length && a[i] === b[j])) {
      if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) {
        position += (a[i] ?? "").length
        i++
      } else j++
    }
    if (i > startI || j > startJ) {
      hunks.push({ from, to: position, inserted: b.slice(startJ, j).join("") })
    }
    while (i < a.length && j < b.length && a[i] === b[j]) {
      position += (a[i] ?? "").length
      i++
      j++
    }
  }
  return hunks
}

/** `common[i * (|b|+1) + j]`: how many tokens a[i..] and b[j..] share in order. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const width = b.length + 1
  const common = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const skip = Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0)
      common[i * width + j] = a[i] === b[j] ? (common[(i + 1) * width + j + 1] ?? 0) + 1 : skip
    }
  }
  return common
}

/** Two changes with only a space between read better as one. */
function joinAcrossSpaces(hunks: readonly Hunk[], before: string): Hunk[] {
  const joined: Hunk[] = []
  for (const hunk of hunks) {
    const last = joined.at(-1)
    const between = last === undefined ? "" : before.slice(last.to, hunk.from)
    if (last !== undefined && /^[ \t]?$/.test(between)) {
      joined[joined.length - 1] = { from: last.from, to: hunk.to, inserted: last.inserted + between + hunk.inserted }
    } else joined.push(hunk)
  }
  return joined
}
