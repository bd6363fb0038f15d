/**
 * Any two revisions compared: in one text, or side by side line by line; the older can be restored.
 *
 * Owns the dialog only: texts are read through the host, and restoring is the session's.
 */

import { diffDocuments, diffLines, diffWords, type Hunk } from "./diff"
import { openDialog } from "./dialogs"
import { button, type Child, h, iconButton, replaceChildren } from "./dom"
import { icon } from "./icons"
import type { RevisionWire } from "./protocol.gen"
import { openWords, revisionLabel } from "./history_panel"

export interface ComparisonHost {
  /** Newest first. */
  readonly revisions: readonly RevisionWire[]
  /** A revision's text and how many suggestions were open; null is the text as it is now. */
  read(revision: RevisionWire | null): Promise<{ text: string; numOpen: number }>
  restore(revision: RevisionWire): void
  complain(error: unknown): void
}

type Mode = "merged" | "sides"

const FEW_LINES = 3
const MOST_LINES = 8

export function showComparison(host: ComparisonHost, first: RevisionWire): void {
  const view = new Comparison(host, first)
  void view.load()
}

class Comparison {
  private readonly from: HTMLSelectElement
  private readonly to: HTMLSelectElement
  private readonly count = h("span", { class: "tl-empty", role: "status" }, "Reading…")
  private readonly body = h("div", { class: "tl-compared" })
  private readonly restore: HTMLButtonElement
  private readonly dialog: HTMLDialogElement
  private mode: Mode = "merged"
  private texts: readonly [string, string] = ["", ""]
  private numOpen = 0
  private at = -1

  constructor(
    private readonly host: ComparisonHost,
    first: RevisionWire,
  ) {
    this.from = this.choice("Before", first, false)
    this.to = this.choice("After", null, true)
    this.restore = button("Restore this text", () => this.takeBack(), { class: "tl-primary" })
    this.dialog = openDialog(
      "Compare versions",
      "tl-wide tl-comparison",
      h(
        "div",
        { class: "tl-row tl-compare-head" },
        h("label", { class: "tl-compare-choice" }, h("span", {}, "Before"), this.from),
        h("label", { class: "tl-compare-choice" }, h("span", {}, "After"), this.to),
        h("span", { class: "tl-card-gap" }),
        this.modeChoice(),
      ),
      this.body,
      h(
        "div",
        { class: "tl-row tl-dialog-foot" },
        this.count,
        iconButton(icon("up"), "Previous change", () => this.walk(-1)),
        iconButton(icon("down"), "Next change", () => this.walk(1)),
        h("span", { class: "tl-card-gap" }),
        this.restore,
      ),
    )
  }

  async load(): Promise<void> {
    try {
      const [before, after] = await Promise.all([this.host.read(this.chosen(this.from)), this.host.read(this.chosen(this.to))])
      this.texts = [before.text, after.text]
      this.numOpen = before.numOpen
      this.draw()
    } catch (error) {
      this.dialog.close()
      this.host.complain(error)
    }
  }

  private choice(label: string, chosen: RevisionWire | null, hasNow: boolean): HTMLSelectElement {
    const now = hasNow ? [h("option", { value: "now", selected: chosen === null }, "The text now")] : []
    const rows = this.host.revisions.map((row) =>
      h("option", { value: String(row.n), selected: row.n === chosen?.n }, revisionLabel(row)),
    )
    const select = h("select", { "aria-label": label }, ...now, ...rows)
    select.addEventListener("change", () => void this.load())
    return select
  }

  private chosen(select: HTMLSelectElement): RevisionWire | null {
    return this.host.revisions.find(({ n }) => String(n) === select.value) ?? null
  }

  private modeChoice(): HTMLElement {
    const option = (mode: Mode, words: string): HTMLElement => {
      const input = h("input", { type: "radio", name: "tl-compare-mode", checked: mode === this.mode })
      input.addEventListener("change", () => {
        this.mode = mode
        this.draw()
      })
      return h("label", {}, input, h("span", {}, words))
    }
    return h(
      "fieldset",
      { class: "tl-segments", "aria-label": "How to show it" },
      option("merged", "In one text"),
      option("sides", "Side by side"),
    )
  }

  private draw(): void {
    const [before, after] = this.texts
    this.at = -1
    replaceChildren(this.body, ...(this.mode === "merged" ? merged(before, after) : sides(before, after)))
    this.body.classList.toggle("tl-sides", this.mode === "sides")
    const count = diffDocuments(before, after).length
    const changes = count === 0 ? "No differences." : count === 1 ? "1 change." : `${count} changes.`
    this.count.textContent = changes + openWords(this.numOpen, "was", "were")
  }

  private walk(step: 1 | -1): void {
    const marks = [...this.body.querySelectorAll<HTMLElement>("[data-change]")]
    if (marks.length === 0) return
    for (const mark of marks) mark.classList.remove("tl-active")
    this.at = (this.at + step + marks.length + (this.at === -1 && step === -1 ? 1 : 0)) % marks.length
    marks[this.at]?.classList.add("tl-active")
    marks[this.at]?.scrollIntoView({ block: "center" })
  }

  private takeBack(): void {
    const revision = this.chosen(this.from)
    this.dialog.close()
    if (revision !== null) this.host.restore(revision)
  }
}

function merged(before: string, after: string): Child[] {
  const nodes: Child[] = []
  let at = 0
  for (const hunk of diffDocuments(before, after)) {
    nodes.push(before.slice(at, hunk.from), h("span", { "data-change": "" }, ...marksOf(before, hunk)))
    at = hunk.to
  }
  return [...nodes, before.slice(at)]
}

function marksOf(before: string, { from, to, inserted }: Hunk): Child[] {
  return [
    from < to && h("del", { class: "tl-del" }, withSigns(before.slice(from, to))),
    inserted !== "" && h("ins", { class: "tl-ins" }, withSigns(inserted)),
  ]
}

/** Line ends get a sign, and so do spaces on their own: a change of those alone could not be seen. */
function withSigns(text: string): string {
  return (text.trim() === "" ? text.replaceAll(" ", "␣") : text).replaceAll("\n", "¶\n")
}

/** Rows of two cells; long stretches without a change are folded. */
function sides(before: string, after: string): Child[] {
  const rows: Child[] = []
  let at = 0
  const hunks = diffLines(before, after)
  hunks.forEach((hunk, index) => {
    rows.push(...sameLines(linesOf(before.slice(at, hunk.from)), index > 0, true))
    const [left, right] = [linesOf(before.slice(hunk.from, hunk.to)), linesOf(hunk.inserted)]
    for (let row = 0; row < Math.max(left.length, right.length); row++) rows.push(changedRow(left[row], right[row]))
    at = hunk.to
  })
  return [...rows, ...sameLines(linesOf(before.slice(at)), hunks.length > 0, false)]
}

function linesOf(text: string): string[] {
  if (text === "") return []
  return text.replace(/\n$/, "").split("\n")
}

function sameLines(lines: readonly string[], hasBefore: boolean, hasAfter: boolean): Child[] {
  const row = (line: string): HTMLElement => h("div", { class: "tl-side-row" }, h("p", {}, line), h("p", {}, line))
  if (lines.length <= MOST_LINES) return lines.map(row)
  const head = hasBefore ? lines.slice(0, FEW_LINES) : []
  const tail = hasAfter ? lines.slice(-FEW_LINES) : []
  const folded = lines.length - head.length - tail.length
  return [...head.map(row), h("div", { class: "tl-folded" }, `${folded} lines without a change`), ...tail.map(row)]
}

function changedRow(left: string | undefined, right: string | undefined): HTMLElement {
  const [before, after] = [left ?? "", right ?? ""]
  const old: Child[] = []
  const fresh: Child[] = []
  let at = 0
  for (const hunk of diffWords(before, after)) {
    const same = before.slice(at, hunk.from)
    old.push(same, hunk.from < hunk.to && h("del", { class: "tl-del" }, withSigns(before.slice(hunk.from, hunk.to))))
    fresh.push(same, hunk.inserted !== "" && h("ins", { class: "tl-ins" }, withSigns(hunk.inserted)))
    at = hunk.to
  }
  const cell = (text: string | undefined, parts: Child[]): HTMLElement =>
    h("p", { class: text === undefined ? "tl-no-line" : "" }, ...parts, text === undefined ? "" : before.slice(at))
  return h("div", { class: "tl-side-row tl-side-changed", "data-change": "" }, cell(left, old), cell(right, fresh))
}
