/** The left column: the documents, newest first, and ways to get text in and out. */

import { button, h, iconButton } from "./dom"
import { icon } from "./icons"
import { refill } from "./refill"
import { type DocumentSummary, EXPORT_FORMATS, exportUrl } from "./rest"

export interface DocumentsHost {
  open(id: string): void
  create(): void
  importFile(file: File): void
  finalise(): void
  deleteOpen(): void
  showAbout(): void
}

export class DocumentsPanel {
  private readonly list = h("ul", { class: "tl-document-list" })
  private readonly exports = h("div", { class: "tl-exports" })

  constructor(
    element: HTMLElement,
    private readonly host: DocumentsHost,
  ) {
    const picker = h("input", { type: "file", class: "tl-hidden", tabindex: "-1", "aria-label": "File to import" })
    picker.accept = ".txt,.md,.markdown,.html,.htm,.docx,.json"
    picker.addEventListener("change", () => {
      const file = picker.files?.[0]
      if (file) host.importFile(file)
      picker.value = ""
    })
    element.append(
      h(
        "div",
        { class: "tl-column-head" },
        h("h2", {}, "Documents"),
        iconButton(icon("upload"), "Import a file", () => picker.click()),
        iconButton(icon("plus"), "New document", () => host.create()),
        picker,
      ),
      this.list,
      this.exports,
      h("div", { class: "tl-column-foot" }, button([icon("info"), "About Tideline"], () => host.showAbout(), { class: "tl-quiet" })),
    )
  }

  show(documents: readonly DocumentSummary[], currentId: string | null): void {
    const rows = [...documents].sort((a, b) => b.updated_s - a.updated_s)
    const signature = JSON.stringify([currentId, rows.map(({ id, title, updated_s }) => [id, title, dayOf(updated_s)])])
    refill(this.list, signature, () =>
      rows.length === 0 ? [h("li", { class: "tl-empty" }, "No documents yet.")] : rows.map((row) => this.row(row, currentId)),
    )
    refill(this.exports, currentId ?? "", () => (currentId === null ? [] : [exportMenu(currentId), this.finaliseButton(), this.deleteButton()]))
  }

  private finaliseButton(): HTMLElement {
    return button([icon("check"), "Finalise this document"], () => this.host.finalise(), {
      class: "tl-quiet tl-document-act",
      "data-key": "finalise",
    })
  }

  private deleteButton(): HTMLElement {
    return button([icon("trash"), "Delete this document"], () => this.host.deleteOpen(), {
      class: "tl-quiet tl-document-act",
      "data-key": "delete",
    })
  }

  private row(row: DocumentSummary, currentId: string | null): HTMLElement {
    const isCurrent = row.id === currentId
    return h(
      "li",
      {},
      h(
        "button",
        {
          type: "button",
          class: "tl-document",
          "data-key": row.id,
          "aria-current": isCurrent ? "page" : false,
          on: { click: () => this.host.open(row.id) },
        },
        h("span", { class: "tl-document-title" }, row.title || "Untitled"),
        h("span", { class: "tl-document-day" }, dayOf(row.updated_s)),
      ),
    )
  }
}

function exportMenu(id: string): HTMLElement {
  const links = EXPORT_FORMATS.map(({ format, words }) =>
    h("li", {}, h("a", { href: exportUrl(id, format), download: "", "data-key": format }, words)),
  )
  return h(
    "details",
    { class: "tl-export" },
    h("summary", {}, icon("download"), "Export this document"),
    h("ul", {}, ...links),
  )
}

const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" })
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" })

export function dayOf(seconds: number): string {
  const moment = new Date(seconds * 1000)
  const isToday = moment.toDateString() === new Date().toDateString()
  return (isToday ? TIME : DAY).format(moment)
}
