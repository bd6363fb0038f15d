/** The shortcut sheet: every key, and a way to change each (R15). */

import { openDialog } from "./dialogs"
import { button, h, replaceChildren } from "./dom"
import { BUILT_IN, isChanged, keyLabel, pressedKey, problemWith, rebind, resetKeys, type Shortcut, shortcuts } from "./keys"

export function showShortcuts(): void {
  const body = h("tbody", {})
  const trouble = h("p", { class: "tl-key-trouble", role: "status" })
  const reset = button("Reset all", () => {
    resetKeys()
    trouble.textContent = "All keys are as at first."
    draw()
  }, { class: "tl-quiet" })
  const draw = (focusOn?: string): void => {
    reset.disabled = !isChanged()
    replaceChildren(body, ...shortcuts().map((one) => shortcutRow(one, trouble, draw)), ...BUILT_IN.map(fixedRow))
    if (focusOn !== undefined) body.querySelector<HTMLElement>(`[data-key="${focusOn}"]`)?.focus({ preventScroll: true })
  }
  openDialog(
    "Keyboard shortcuts",
    "tl-shortcuts",
    h("p", { class: "tl-empty" }, "Press a key's name to change it. Escape, then Tab, always leaves the text."),
    h("table", {}, body),
    h("div", { class: "tl-row tl-dialog-foot" }, trouble, reset),
  )
  draw()
}

function fixedRow({ key, words }: { key: string; words: string }): HTMLElement {
  return h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, keyLabel(key))), h("td", {}, words))
}

function shortcutRow({ key, command, words }: Shortcut, trouble: HTMLElement, draw: (focusOn?: string) => void): HTMLElement {
  const change = h(
    "button",
    { type: "button", class: "tl-key", "data-key": command, "aria-label": `${keyLabel(key)}: ${words}. Change this key` },
    h("kbd", {}, keyLabel(key)),
  )
  change.addEventListener("click", () => listen(change, command, trouble, draw))
  return h("tr", {}, h("th", { scope: "row" }, change), h("td", {}, words))
}

function listen(element: HTMLElement, command: Shortcut["command"], trouble: HTMLElement, draw: (focusOn?: string) => void): void {
  trouble.textContent = "Press the new keys. Escape leaves it as it is."
  replaceChildren(element, h("kbd", { class: "tl-listening" }, "Press keys…"))
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Tab") return
    event.preventDefault()
    event.stopPropagation()
    const pressed = pressedKey(event)
    if (pressed === null) return
    const problem = pressed === "Escape" ? "" : problemWith(pressed, command)
    if (problem !== null && problem !== "") {
      trouble.textContent = problem
      return
    }
    if (problem === null) rebind(command, pressed)
    trouble.textContent = problem === null ? `Changed to ${keyLabel(pressed)}.` : ""
    end()
    draw(command)
  }
  const end = (): void => {
    element.removeEventListener("keydown", press)
    element.removeEventListener("blur", leave)
  }
  const leave = (): void => {
    end()
    trouble.textContent = ""
    draw()
  }
  element.addEventListener("keydown", press)
  element.addEventListener("blur", leave)
}
