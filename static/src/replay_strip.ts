/**
 * The stability strip: word position across, pass down. Told apart by shape, not colour: final words
 * are full bars, settled ones half, open ones a line, blanks a row of dots; a notch marks a change.
 */

import { h, svg } from "./dom"
import type { PieceKind } from "./drafts"
import type { Replay, ReplayPass } from "./replay_model"
import { chooseRows } from "./strip"

const WIDTH = 1000
const MOST_ROWS = 64
const GAP = 3
const REGION_GAP = 14
const WIDEST = 12
/** Where the screen is tall, the picture is; theme.css holds it to a share of the height. */
const ROOMY = 1.4

const HEIGHTS: Record<PieceKind, number> = { stable: 0.78, settled: 0.44, open: 0.12, blank: 0.12 }

export class ReplayStrip {
  readonly element = h("figure", { class: "tl-replay-strip" })
  private readonly head = svg("rect", { class: "tl-replay-head", x: 0, width: WIDTH, rx: 2 })
  private rows: { index: number; group: SVGElement }[] = []
  private row = 10

  constructor(private readonly seek: (index: number) => void) {}

  draw(replay: Replay): void {
    const chosen = chooseRows(replay.passes.map((pass, index) => ({ pass, index })), MOST_ROWS)
    this.row = Math.max(5, Math.min(26, 210 / chosen.length))
    const height = chosen.length * this.row
    const columns = columnsOf(replay)
    this.rows = chosen.map(({ pass, index }, at) => ({ index, group: this.drawRow(pass, columns, at * this.row) }))
    const picture = svg(
      "svg",
      {
        viewBox: `0 0 ${WIDTH} ${height}`,
        preserveAspectRatio: "none",
        role: "img",
        "aria-label": "Every word by pass: when it appeared, changed, settled and became final. The list of sentences says the same.",
      },
      this.head,
      ...this.rows.map(({ group }) => group),
      svg("path", { class: "tl-strip-tide", d: tidePath(chosen.map(({ pass }) => pass), columns, this.row) }),
    )
    this.head.setAttribute("height", String(this.row))
    picture.style.setProperty("--tl-tall", `${height * ROOMY}px`)
    picture.addEventListener("click", (event) => {
      const { top, height: shown } = picture.getBoundingClientRect()
      const at = Math.floor(((event.clientY - top) / shown) * this.rows.length)
      const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, at))]
      if (row !== undefined) this.seek(row.index)
    })
    this.element.replaceChildren(picture)
  }

  /** Rows after this pass are still to come. */
  show(index: number): void {
    const at = Math.max(0, this.rows.findLastIndex((row) => row.index <= index))
    this.head.setAttribute("y", String(at * this.row))
    this.rows.forEach(({ group }, row) => group.classList.toggle("tl-ahead", row > at))
  }

  private drawRow({ words }: ReplayPass, columns: readonly Column[], top: number): SVGElement {
    const cells = words.flatMap((word, at) => {
      if (word === null) return []
      const { kind, isChanged } = word
      const { x, width } = columns[at] ?? { x: 0, width: 0 }
      const height = HEIGHTS[kind] * this.row
      const bottom = top + this.row * 0.9
      const cell = svg("rect", { class: `tl-strip-${kind}`, x, y: bottom - height, width, height })
      const notch = svg("rect", { class: "tl-strip-change", x: x + width / 2 - 2.5, y: bottom - this.row * 0.78, width: 5, height: this.row * 0.5 })
      return isChanged ? [cell, notch] : [cell]
    })
    return svg("g", {}, ...cells)
  }
}

interface Column {
  readonly x: number
  readonly width: number
}

/** As wide as the longest word that ever stood there, within reason. */
function columnsOf({ passes, numPositions, starts }: Replay): Column[] {
  const weights = Array.from({ length: numPositions }, (_, at) =>
    passes.reduce((most, { words }) => Math.max(most, Math.min(WIDEST, words[at]?.text.length ?? 0)), 2),
  )
  const unit = (WIDTH - GAP * numPositions - REGION_GAP * (starts.size - 1)) / weights.reduce((sum, weight) => sum + weight, 0)
  let x = 0
  return weights.map((weight, at) => {
    if (at > 0 && starts.has(at)) x += REGION_GAP
    const column = { x, width: weight * unit }
    x += column.width + GAP
    return column
  })
}

/** How far the final start reaches after each pass; it only ever moves right. */
function tidePath(passes: readonly ReplayPass[], columns: readonly Column[], row: number): string {
  let furthest = 0
  const points = passes.map(({ words }, index) => {
    const open = words.findIndex((word) => word !== null && word.kind !== "stable")
    const last = columns[(open === -1 ? words.length : open) - 1]
    furthest = Math.max(furthest, last === undefined ? 0 : last.x + last.width + 1)
    return `${furthest.toFixed(1)} ${index * row} V ${(index + 1) * row}`
  })
  return points.map((point, index) => `${index === 0 ? "M" : "L"} ${point}`).join(" ")
}
