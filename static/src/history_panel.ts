/** The "History" panel: revisions, newest first; compare any with now, restore any. */

import { button, h } from "./dom"
import type { RevisionWire } from "./protocol.gen"
import { refill } from "./refill"

export interface HistoryHost {
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
  readonly element = h("section", { class: "tl-panel", "aria-label": "History" })
  private readonly list = h("ol", { class: "tl-revisions" })

  constructor(private readonly host: HistoryHost) {
    this.element.append(this.list)
  }

  show(revisions: readonly RevisionWire[], version: number): void {
    const rows = [...revisions].sort((a, b) => b.n - a.n)
    refill(this.list, JSON.stringify([version, rows.map(({ n, summary }) => [n, summary])]), () =>
      rows.length === 0
        ? [h("li", { class: "tl-empty" }, "Revisions appear as you write.")]
        : rows.map((row, index) => this.row(row, index === 0 && row.version === version)),
    )
  }

  private row(row: RevisionWire, isNow: boolean): HTMLElement {
    return h(
      "li",
      { class: `tl-revision tl-revision-${row.author_kind}` },
      h(
        "div",
        { class: "tl-revision-line" },
        h("span", { class: "tl-revision-author" }, AUTHORS[row.author_kind]),
        h("time", { datetime: row.created_at }, momentOf(row.created_at)),
        h("span", { class: "tl-revision-number", title: `Revision ${row.n}` }, `r${row.version}`),
      ),
      row.summary === "" ? null : h("p", { class: "tl-revision-summary" }, row.summary),
      isNow
        ? h("p", { class: "tl-empty" }, "This is the text now.")
        : h(
            "div",
            { class: "tl-row" },
            button("Compare with now", () => this.host.compare(row), { class: "tl-quiet", "data-key": `compare-${row.n}` }),
            button("Restore", () => this.host.restore(row), { class: "tl-quiet", "data-key": `restore-${row.n}` }),
          ),
    )
  }
}

const MOMENT = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" })
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })

function momentOf(iso: string): string {
  const moment = new Date(iso)
  const isToday = moment.toDateString() === new Date().toDateString()
  return (isToday ? TIME : MOMENT).format(moment)
}
