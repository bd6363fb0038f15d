/** The dialogs that ask or tell on demand: deleting, naming a version, About. Bundled apart. */

import { openDialog } from "./dialogs"
import { button, h } from "./dom"

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

/** Asks for a version's name; nothing is discarded by closing it. */
export function askVersionName(now: string, save: (name: string) => void): void {
  const input = h("input", { type: "text", maxlength: 120, autofocus: true, placeholder: "Sent to Anna", autocomplete: "off" })
  const keep = (): void => {
    const name = input.value.trim()
    if (name === "") return input.focus()
    dialog.close()
    save(name)
  }
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) {
      event.preventDefault()
      keep()
    }
  })
  const dialog = openDialog(
    "Name this version",
    "tl-name-dialog",
    h("p", { class: "tl-empty" }, `Your text is saved as you write. A name makes this version (${now}) easy to find again.`),
    h("label", { class: "tl-setting tl-stacked" }, h("span", {}, "Name"), input),
    h(
      "div",
      { class: "tl-row tl-dialog-foot" },
      button("Cancel", () => dialog.close(), { class: "tl-quiet" }),
      button("Save the name", keep, { class: "tl-primary" }),
    ),
  )
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
