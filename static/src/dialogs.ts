/** Dialogs: the shortcut sheet, a revision compared with now, text that could not be saved. */

import { diffDocuments } from "./diff"
import { button, type Child, h, iconButton } from "./dom"
import { icon } from "./icons"
import { BUILT_IN, keyLabel, SHORTCUTS } from "./keys"

/** Opens a modal dialog; it removes itself when closed, and the focus goes back by itself. */
export function openDialog(title: string, className: string, ...children: Child[]): HTMLDialogElement {
  const dialog = h("dialog", { class: `tl-dialog ${className}`, "aria-label": title })
  dialog.append(
    h("div", { class: "tl-dialog-head" }, h("h2", {}, title), iconButton(icon("cross"), "Close", () => dialog.close())),
    h("div", { class: "tl-dialog-body", tabindex: "0" }, ...children),
  )
  dialog.addEventListener("close", () => dialog.remove())
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close()
  })
  const host = document.querySelector(".tl-app") ?? document.body
  host.append(dialog)
  dialog.showModal()
  return dialog
}

export function showShortcuts(): void {
  const rows = [...SHORTCUTS, ...BUILT_IN].map(({ key, words }) =>
    h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, keyLabel(key))), h("td", {}, words)),
  )
  openDialog("Keyboard shortcuts", "tl-shortcuts", h("table", {}, h("tbody", {}, ...rows)))
}

export function showComparison(label: string, before: string, after: string, restore: () => void): void {
  const hunks = diffDocuments(before, after)
  const nodes: Child[] = []
  let at = 0
  for (const hunk of hunks) {
    nodes.push(before.slice(at, hunk.from))
    if (hunk.from < hunk.to) nodes.push(h("del", { class: "tl-del" }, before.slice(hunk.from, hunk.to)))
    if (hunk.inserted !== "") nodes.push(h("ins", { class: "tl-ins" }, hunk.inserted))
    at = hunk.to
  }
  nodes.push(before.slice(at))
  const count = hunks.length === 0 ? "No differences." : hunks.length === 1 ? "1 change since." : `${hunks.length} changes since.`
  const dialog = openDialog(
    `${label} compared with now`,
    "tl-comparison",
    h("p", { class: "tl-empty" }, count),
    h("div", { class: "tl-compared" }, ...nodes),
    h(
      "div",
      { class: "tl-row" },
      button("Restore this text", () => {
        dialog.close()
        restore()
      }, { class: "tl-primary" }),
    ),
  )
}

export function confirmDelete(title: string, remove: () => void): void {
  const dialog = openDialog(
    "Delete this document?",
    "tl-delete-dialog",
    h("p", {}, "“", h("strong", {}, title), "” will be deleted with its whole history. This cannot be undone."),
    h(
      "div",
      { class: "tl-row" },
      button("Cancel", () => dialog.close(), { class: "tl-quiet", autofocus: true }),
      button("Delete", () => {
        dialog.close()
        remove()
      }, { class: "tl-primary" }),
    ),
  )
}

export function showUnsent(message: string, text: string): void {
  const area = h("textarea", { class: "tl-unsent", readonly: true, "aria-label": "Text that could not be saved", rows: 12 })
  area.value = text
  const copy = (): void => {
    area.select()
    void navigator.clipboard?.writeText(text)
  }
  openDialog("Not saved – copy your text", "tl-unsent-dialog", h("p", {}, message), area, button("Copy", copy, { class: "tl-primary" }))
}

/** Shows the shell's own About panel, which Gradio draws; it is moved into view, never rebuilt. */
export function openAbout(): void {
  const panel = document.getElementById("tl-about")
  if (panel === null) return
  const opener = document.activeElement
  panel.classList.add("tl-about-open")
  panel.setAttribute("role", "dialog")
  panel.setAttribute("aria-modal", "true")
  panel.setAttribute("aria-label", "About Tideline")
  panel.tabIndex = -1
  const close = (): void => {
    panel.classList.remove("tl-about-open")
    document.removeEventListener("keydown", press, true)
    document.removeEventListener("pointerdown", point, true)
    if (opener instanceof HTMLElement) opener.focus()
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return
    event.stopPropagation()
    close()
  }
  const point = (event: PointerEvent): void => {
    const isClose = event.target instanceof Element && event.target.closest("#tl-about-close") !== null
    if (isClose || (event.target instanceof Node && !panel.contains(event.target))) close()
  }
  document.addEventListener("keydown", press, true)
  document.addEventListener("pointerdown", point, true)
  panel.focus()
}
