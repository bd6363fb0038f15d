/**
 * Making a version final: what will be committed is shown and confirmed (R18).
 *
 * A final version is a named revision without blanks. Writing goes on from it as a new revision;
 * it stays in History and can be restored from there.
 */

import { openDialog } from "./dialogs"
import { button, h, replaceChildren } from "./dom"
import { EXPORT_FORMATS, exportUrl } from "./rest"

export interface Finalising {
  readonly documentId: string
  readonly version: number
  readonly text: string
  readonly numUnfilled: number
  readonly numOpen: number
  name(name: string): void
}

export function showFinalise(about: Finalising): void {
  const input = h("input", { type: "text", maxlength: 120, autocomplete: "off" })
  input.value = "Final"
  const body = h("div", { class: "tl-final" })
  const dialog = openDialog("Finalise this document", "tl-final-dialog", body)
  const confirm = (): void => {
    about.name(input.value.trim() || "Final")
    replaceChildren(body, ...whatNow(about))
  }
  replaceChildren(
    body,
    h("p", {}, `This text becomes a final version (r${about.version}):`),
    h("div", { class: "tl-final-text", tabindex: 0, role: "region", "aria-label": "Text of the final version" }, about.text),
    ...hindrances(about).map((words) => h("p", { class: "tl-warning" }, words)),
    h("label", { class: "tl-setting tl-stacked" }, h("span", {}, "Name"), input),
    h(
      "div",
      { class: "tl-row tl-dialog-foot" },
      button("Cancel", () => dialog.close(), { class: "tl-quiet" }),
      button("Finalise", confirm, { class: "tl-primary", disabled: about.numUnfilled > 0 }),
    ),
  )
}

function hindrances({ numUnfilled, numOpen }: Finalising): string[] {
  const blanks = numUnfilled === 1 ? "1 place is" : `${numUnfilled} places are`
  const suggestions = numOpen === 1 ? "1 suggestion is" : `${numOpen} suggestions are`
  return [
    ...(numUnfilled === 0 ? [] : [`${blanks} not filled yet. Fill or remove what is open first; F2 walks it.`]),
    ...(numOpen === 0 ? [] : [`${suggestions} not decided and will not be part of it.`]),
  ]
}

function whatNow({ documentId, version }: Finalising): HTMLElement[] {
  const links = EXPORT_FORMATS.map(({ format, words }) =>
    h("li", {}, h("a", { href: exportUrl(documentId, format, true), download: "" }, words)),
  )
  return [
    h("p", { role: "status" }, `r${version} is final. Writing on begins a new version; this one stays in History.`),
    h("p", { class: "tl-empty" }, "Download it:"),
    h("ul", { class: "tl-final-links" }, ...links),
  ]
}
