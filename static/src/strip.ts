/**
 * The convergence strip: position by pass, drawn as SVG.
 *
 * One row per pass, first at the top. Told apart by shape: the stable start is a full bar, settled
 * words a half bar, unsettled ones a thin line, blanks a dotted one. The tide line joins the ends
 * of the stable starts: it only ever moves right.
 */

import { h, svg } from "./dom"
import { draftOf, piecesOf, type PieceKind } from "./drafts"
import type { PassFrame } from "./protocol.gen"
import type { RunRecord } from "./run_model"

const WIDTH = 256
const MOST_ROWS = 40
const ROW = 7

export interface Stretch {
  readonly kind: PieceKind
  /** Share of the row, [0, 1]. */
  readonly from: number
  readonly to: number
}

/** A pass as stretches of one row. Pure. */
export function stretchesOf(frame: PassFrame): Stretch[] {
  const pieces = frame.regions.flatMap((region) => piecesOf(draftOf(region, "")))
  // A blank stands for a whole word still to come, so it takes a word's width.
  const weights = pieces.map((piece) => (piece.kind === "blank" ? piece.text.length * 5 : piece.text.length))
  const total = Math.max(1, weights.reduce((sum, weight) => sum + weight, 0))
  let at = 0
  return pieces.map((piece, index) => {
    const from = at / total
    at += weights[index] ?? 0
    return { kind: piece.kind, from, to: at / total }
  })
}

/** The rows to show: the first, the last, and evenly chosen ones between. */
export function chooseRows<T>(rows: readonly T[], most: number): T[] {
  if (rows.length <= most) return [...rows]
  return Array.from({ length: most }, (_, index) => rows[Math.round((index * (rows.length - 1)) / (most - 1))] as T)
}

const SHAPES: Record<PieceKind, { height: number; class: string }> = {
  stable: { height: 5, class: "tl-strip-stable" },
  settled: { height: 3, class: "tl-strip-settled" },
  open: { height: 1.25, class: "tl-strip-open" },
  blank: { height: 1.25, class: "tl-strip-blank" },
}

export class ConvergenceStrip {
  readonly element = h("figure", { class: "tl-strip" })
  private drawn = ""

  show(run: RunRecord | null): void {
    const signature = run === null ? "" : `${run.runId}:${run.passes.length}:${run.state}`
    if (signature === this.drawn) return
    this.drawn = signature
    this.element.hidden = run === null || run.passes.length === 0
    if (run === null || this.element.hidden) return
    const rows = chooseRows(run.passes, MOST_ROWS)
    const planned = Math.min(MOST_ROWS, Math.max(run.maxPasses, rows.length, 8))
    const height = (run.ended === null ? planned : Math.max(rows.length, 4)) * ROW
    const picture = svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": describe(run), preserveAspectRatio: "none" },
      ...rows.flatMap((frame, index) => drawRow(stretchesOf(frame), index * ROW)),
      svg("path", { class: "tl-strip-tide", d: tidePath(rows) }),
    )
    picture.style.height = `${Math.min(height, 196)}px`
    this.element.replaceChildren(picture, caption())
  }
}

function drawRow(stretches: readonly Stretch[], top: number): SVGElement[] {
  return stretches.map(({ kind, from, to }) => {
    const { height, class: name } = SHAPES[kind]
    const x = from * WIDTH
    return svg("rect", {
      class: name,
      x: x.toFixed(2),
      y: top + ROW - 1 - height,
      width: Math.max(0.75, (to - from) * WIDTH - 0.75).toFixed(2),
      height,
    })
  })
}

function tidePath(rows: readonly PassFrame[]): string {
  let furthest = 0
  const points = rows.map((frame, index) => {
    const stretches = stretchesOf(frame)
    const first = stretches[0]
    furthest = Math.max(furthest, first?.kind === "stable" ? first.to : 0)
    return `${(furthest * WIDTH).toFixed(2)} ${index * ROW} V ${(index + 1) * ROW - 1}`
  })
  return points.map((point, index) => `${index === 0 ? "M" : "L"} ${point}`).join(" ")
}

function caption(): HTMLElement {
  const key = (kind: string, words: string): HTMLElement =>
    h("span", { class: "tl-strip-key" }, h("i", { class: `tl-key-${kind}`, "aria-hidden": "true" }), words)
  return h("figcaption", {}, key("stable", "final"), key("settled", "settled"), key("open", "open"), key("blank", "blank"))
}

function describe(run: RunRecord): string {
  return `Settling by position and pass: ${run.passes.length} passes, ${shareSettled(run)} percent settled.`
}

/** Percent of the newest pass that is settled, by characters. */
export function shareSettled(run: RunRecord): number {
  const frame = run.passes.at(-1)
  if (frame === undefined) return 0
  const stretches = stretchesOf(frame)
  const share = stretches
    .filter(({ kind }) => kind === "stable" || kind === "settled")
    .reduce((sum, { from, to }) => sum + to - from, 0)
  return Math.round(share * 100)
}
