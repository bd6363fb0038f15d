/** The frame of the page: header, documents, paper, panels, status. Holds no state of its own. */

import { Announcer } from "./announcer"
import { h, iconButton, svg } from "./dom"
import { icon } from "./icons"

export interface Layout {
  readonly root: HTMLElement
  readonly announcer: Announcer
  readonly title: HTMLInputElement
  readonly save: HTMLElement
  readonly tools: HTMLElement
  readonly more: HTMLElement
  readonly documents: HTMLElement
  readonly paper: HTMLElement
  readonly banner: HTMLElement
  readonly dock: HTMLElement
  readonly panels: HTMLElement
  readonly words: HTMLElement
  readonly phoneTools: HTMLElement
  toggleDocuments(): void
  togglePanels(): void
  showPanels(): void
  closeSheets(): boolean
}

export function buildLayout(): Layout {
  const announcer = new Announcer()
  const part = (name: string): HTMLElement => h("div", { class: name })
  const title = h("input", {
    class: "tl-title",
    "aria-label": "Title of the document",
    maxlength: 200,
    placeholder: "Untitled",
    spellcheck: "false",
    autocomplete: "off",
  })
  const [save, tools, more, paper, dock, words, phoneTools] = [
    part("tl-save"),
    part("tl-tools"),
    part("tl-more"),
    part("tl-paper"),
    part("tl-dock"),
    part("tl-words"),
    part("tl-phone-tools"),
  ]
  const banner = h("div", { class: "tl-banner", hidden: true })
  const documents = h("nav", { class: "tl-documents", id: "tl-documents", "aria-label": "Documents" })
  const panels = h("aside", { class: "tl-panels", id: "tl-panels", "aria-label": "Runs, review and history" })
  const shade = h("div", { class: "tl-shade" })
  const root = h("div", { class: "tl-app" })
  const { toggleDocuments, togglePanels, showPanels, closeSheets } = drawers(root)
  shade.addEventListener("click", closeSheets)
  root.append(
    h(
      "header",
      { class: "tl-header" },
      iconButton(icon("menu"), "Documents", toggleDocuments, { class: "tl-menu", "aria-controls": "tl-documents" }),
      h("h1", { class: "tl-brand" }, waveMark(), "Tideline"),
      title,
      save,
      tools,
      more,
    ),
    documents,
    h("main", { class: "tl-main" }, banner, announcer.alert, paper, dock),
    panels,
    h("footer", { class: "tl-foot" }, announcer.status, helpLine(), words),
    phoneTools,
    shade,
  )
  return {
    root, announcer, title, save, tools, more, documents, paper, banner, dock, panels, words, phoneTools,
    toggleDocuments, togglePanels, showPanels, closeSheets,
  }
}

type Drawers = Pick<Layout, "toggleDocuments" | "togglePanels" | "showPanels" | "closeSheets">

/** Wide: columns that can be folded away. Narrow: sheets over the paper, one at a time. */
function drawers(root: HTMLElement): Drawers {
  const isNarrow = (): boolean => window.matchMedia("(max-width: 899px)").matches
  const toggle = (sheet: "documents" | "panels"): void => {
    if (isNarrow()) root.dataset["sheet"] = root.dataset["sheet"] === sheet ? "" : sheet
    else root.classList.toggle(`tl-no-${sheet}`)
  }
  return {
    toggleDocuments: () => toggle("documents"),
    togglePanels: () => toggle("panels"),
    showPanels: () => {
      if (isNarrow()) root.dataset["sheet"] = "panels"
      else root.classList.remove("tl-no-panels")
    },
    closeSheets: () => {
      const wasOpen = (root.dataset["sheet"] ?? "") !== ""
      root.dataset["sheet"] = ""
      return wasOpen
    },
  }
}

function helpLine(): HTMLElement {
  return h("div", { class: "tl-help", id: "tl-help-line" }, "Tab leaves the text. Ctrl+/ lists all keys.")
}

/** The mark: two lines of water, the upper one settled. */
function waveMark(): SVGElement {
  return svg(
    "svg",
    { class: "tl-mark", viewBox: "0 0 24 24", width: 22, height: 22, "aria-hidden": "true" },
    svg("path", { d: "M2 10c2.5 0 2.5 2.2 5 2.2S9.5 10 12 10s2.5 2.2 5 2.2 2.5-2.2 5-2.2" }),
    svg("path", { class: "tl-mark-low", d: "M2 16c2.5 0 2.5 2.2 5 2.2S9.5 16 12 16s2.5 2.2 5 2.2 2.5-2.2 5-2.2" }),
  )
}
