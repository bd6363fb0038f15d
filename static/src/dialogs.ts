/** Dialogs: the frame of all, and the one that must open without a server: text not saved. */

import { button, type Child, h, iconButton } from "./dom"
import { icon } from "./icons"

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

export function showUnsent(message: string, text: string): void {
  const area = h("textarea", { class: "tl-unsent", readonly: true, "aria-label": "Text that could not be saved", rows: 12 })
  area.value = text
  const copy = (): void => {
    area.select()
    void navigator.clipboard?.writeText(text)
  }
  openDialog("Not saved – copy your text", "tl-unsent-dialog", h("p", {}, message), area, button("Copy", copy, { class: "tl-primary" }))
}
