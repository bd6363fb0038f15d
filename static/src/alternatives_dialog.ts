/**
 * Alternatives side by side: a column for the original and for each alternative, cut into word
 * groups. Pressing words picks them for the text at the top; any mixture can be accepted.
 */

import type { EditorView } from "@codemirror/view"
import { openDialog } from "./dialogs"
import { type Attributes, button, h, replaceChildren } from "./dom"
import { flagList } from "./facts"
import { icon } from "./icons"
import {
  activeSuggestion,
  chooseAlternative,
  type OpenSuggestion,
  pickWords,
  pureChoice,
  shownFlags,
  suggestedText,
} from "./review"
import { BASE, pickedWords } from "./word_groups"

export function showAlternatives(view: EditorView, id: string, accept: (id: string) => void): void {
  const picked = h("div", { class: "tl-picked" })
  const columns = h("div", { class: "tl-columns" })
  const current = (): OpenSuggestion | null => {
    const suggestion = activeSuggestion(view.state)
    return suggestion?.wire.id === id ? suggestion : null
  }
  const redraw = (): void => {
    const suggestion = current()
    if (suggestion === null) return dialog.close()
    const key = document.activeElement?.getAttribute("data-key")
    replaceChildren(picked, ...pickedParts(suggestion))
    replaceChildren(columns, ...columnsOf(suggestion, pick, turn))
    if (key) columns.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
  }
  const pick = (group: number, choice: number): void => {
    view.dispatch({ effects: pickWords.of({ id, group, pick: choice }) })
    redraw()
  }
  const turn = (index: number): void => {
    view.dispatch({ effects: chooseAlternative.of({ id, index }) })
    redraw()
  }
  const dialog = openDialog(
    "Alternatives side by side",
    "tl-wide tl-alternatives-dialog",
    picked,
    h("p", { class: "tl-empty" }, "Press words in any column to have them in the text above."),
    columns,
    h(
      "div",
      { class: "tl-row tl-dialog-foot" },
      button("Close", () => dialog.close(), { class: "tl-quiet" }),
      button([icon("check"), "Accept this text"], () => {
        dialog.close()
        accept(id)
      }, { class: "tl-primary" }),
    ),
  )
  redraw()
}

function pickedParts(suggestion: OpenSuggestion): HTMLElement[] {
  const pure = pureChoice(suggestion)
  const words = pure === null ? "A mixture" : `Alternative ${suggestion.choices.indexOf(pure) + 1}`
  const flags = flagList(shownFlags(suggestion))
  const text = h("p", { class: "tl-picked-text" }, suggestedText(suggestion) || "(nothing)")
  return [h("h3", {}, words), text, ...(flags === null ? [] : [flags])]
}

type Pick = (group: number, choice: number) => void

function columnsOf(suggestion: OpenSuggestion, pick: Pick, turn: (index: number) => void): HTMLElement[] {
  const original = suggestion.isBlank ? [] : [column(suggestion, BASE, pick, null)]
  return [...original, ...suggestion.choices.map((_, index) => column(suggestion, index, pick, () => turn(index)))]
}

function column(suggestion: OpenSuggestion, version: number, pick: Pick, use: (() => void) | null): HTMLElement {
  const { base, groups, picks, choices } = suggestion
  const parts: (Node | string)[] = []
  let at = 0
  groups.forEach((group, index) => {
    parts.push(base.slice(at, group.from))
    at = group.to
    const words = pickedWords(base, group, version)
    const isPicked = pickedWords(base, group, picks[index] ?? BASE) === words
    const isNothing = words.trim() === ""
    const attributes = { class: `tl-word-group${isNothing ? " tl-nothing" : ""}`, "aria-pressed": String(isPicked), "data-key": `${version}-${index}` }
    parts.push(wordsButton(isNothing ? "(left out)" : words, () => pick(index, version), attributes))
  })
  parts.push(base.slice(at))
  const name = version === BASE ? "Original" : `Alternative ${version + 1}`
  const choice = choices[version]
  return h(
    "section",
    { class: "tl-column", "aria-label": name },
    h("h3", {}, name, use && button("Use all", use, { class: "tl-quiet", "data-key": `use-${version}`, "aria-label": `Use all of ${name.toLowerCase()}` })),
    h("p", { class: "tl-column-text" }, ...parts),
    choice ? flagList(choice.flags) : null,
  )
}

/** A button in running text: a real one would not break over lines. */
function wordsButton(words: string, press: () => void, attributes: Attributes): HTMLElement {
  const element = h("span", { role: "button", tabindex: "0", ...attributes }, words)
  element.addEventListener("click", press)
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return
    event.preventDefault()
    press()
  })
  return element
}
