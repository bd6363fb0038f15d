/** The "History" panel: versions by day, newest first; name this one, compare any two, restore any. */

import { button, h } from "./dom"
import { icon } from "./icons"
import type { RevisionWire } from "./protocol.gen"
import { refill } from "./refill"

export interface HistoryHost {
  name(): void
  compare(revision: RevisionWire): void
  restore(revision: RevisionWire): void
}

const AUTHORS: Record<RevisionWire["author_kind"], string> = {
  person: "You",
  model: "Run accepted",
  import: "Import",
  restore: "Restore",
}

export class HistoryPanel {
  private readonly list = h("div", {})

  constructor(
    element: HTMLElement,
    private readonly host: HistoryHost,
  ) {
    const name = button([icon("flag"), "Name this version"], () => host.name(), { class: "tl-quiet tl-name-version" })
    element.append(name, this.list)
  }

  show(revisions: readonly RevisionWire[], version: number, numOpen: number): void {
    const rows = [...revisions].sort((a, b) => b.n - a.n)
    const signature = JSON.stringify([version, numOpen, new Date().toDateString(), rows.map((row) => [row.n, row.summary, nameOf(row)])])
    refill(this.list, signature, () =>
      rows.length === 0
        ? [h("p", { class: "tl-empty" }, "Versions appear here as you write: one for every few minutes of typing, and one for every run you accept.")]
        : [...Map.groupBy(rows, ({ created_at }) => dayOf(created_at))].flatMap(([day, ofDay]) => [
            h("h2", { class: "tl-day" }, day),
            h("ol", { class: "tl-revisions" }, ...ofDay.map((row) => this.row(row, row === rows[0] && row.version === version ? numOpen : null))),
          ]),
    )
  }

  /** `numOpen` for the version that is the text now, else null. */
  private row(row: RevisionWire, numOpen: number | null): HTMLElement {
    const name = nameOf(row)
    return h(
      "li",
      { class: `tl-revision tl-revision-${row.author_kind}${name === "" ? "" : " tl-named"}` },
      name === "" ? null : h("p", { class: "tl-revision-name" }, icon("flag"), name),
      h(
        "div",
        { class: "tl-revision-line" },
        h("span", { class: "tl-revision-author" }, AUTHORS[row.author_kind]),
        h("time", { datetime: row.created_at }, timeOf(row.created_at)),
        h("span", { class: "tl-revision-number", title: `Revision ${row.n}` }, `r${row.version}`),
      ),
      row.summary === "" || row.summary === name ? null : h("p", { class: "tl-revision-summary" }, row.summary),
      numOpen !== null
        ? h("p", { class: "tl-empty" }, `This is the text now.${openWords(numOpen, "is", "are")}`)
        : h(
            "div",
            { class: "tl-row" },
            button("Compare with now", () => this.host.compare(row), { class: "tl-quiet", "data-key": `compare-${row.n}` }),
            button("Restore", () => this.host.restore(row), { class: "tl-quiet", "data-key": `restore-${row.n}` }),
          ),
    )
  }
}

/** " 2 suggestions are open.", or nothing. */
export function openWords(count: number, one: string, many: string): string {
  if (count === 0) return ""
  return count === 1 ? ` 1 suggestion ${one} open.` : ` ${count} suggestions ${many} open.`
}

function nameOf(row: RevisionWire): string {
  return row.name ?? ""
}

/** One line for a list to choose from. */
export function revisionLabel(row: RevisionWire): string {
  const name = nameOf(row)
  const what = name === "" ? AUTHORS[row.author_kind] : name
  return `${what} · ${dayOf(row.created_at)} ${timeOf(row.created_at)} · r${row.version}`
}

const DAY = new Intl.DateTimeFormat(undefined, { weekday: "long", day: "numeric", month: "long" })
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const DAY_MS = 86_400_000

function dayOf(iso: string): string {
  const day = new Date(iso)
  if (day.toDateString() === new Date().toDateString()) return "Today"
  if (day.toDateString() === new Date(Date.now() - DAY_MS).toDateString()) return "Yesterday"
  return DAY.format(day)
}

function timeOf(iso: string): string {
  return TIME.format(new Date(iso))
}
