/**
 * Plain-text view: the same document in a textarea, without provisional text, and what suggestions
 * would change as a list of sentences (F5, R16).
 *
 * The editor stays the one that holds the text: what is typed here goes through it, with its locks
 * and its undo, and what it refuses does not stay here.
 */

import { redo, undo } from "@codemirror/commands"
import type { ViewUpdate } from "@codemirror/view"
import { EditorView } from "@codemirror/view"
import { button, h } from "./dom"
import { flagList } from "./facts"
import { refill } from "./refill"
import { type Change, changesOf, chooseAlternative, type OpenSuggestion, openSuggestions, placeOf } from "./review"
import type { ReviewActions } from "./review_marks"

export interface PlainTextHost {
  readonly view: EditorView
  readonly decisions: ReviewActions
  readonly paper: HTMLElement
}

export type PlainText = ReturnType<typeof openPlainText>

export function openPlainText(host: PlainTextHost): {
  noteUpdate(update: ViewUpdate): void
  show(): void
  close(): void
} {
  const plain = new PlainTextView(host)
  return {
    noteUpdate: (update) => plain.noteUpdate(update),
    show: () => plain.show(),
    close: () => plain.close(),
  }
}

class PlainTextView {
  private readonly area: HTMLTextAreaElement
  private readonly list = h("ol", {})
  private readonly element: HTMLElement
  private isComposing = false
  private isOwn = false

  constructor(private readonly host: PlainTextHost) {
    const { view, paper } = host
    this.area = h("textarea", {
      class: "tl-plain-text",
      "aria-label": "Document text, plain",
      "aria-describedby": "tl-help-line",
      spellcheck: "true",
    })
    this.element = h(
      "div",
      { class: "tl-plain" },
      this.area,
      h("section", { class: "tl-plain-differences", "aria-label": "Differences" }, h("h2", {}, "Differences"), this.list),
    )
    this.area.value = view.state.doc.toString()
    this.area.addEventListener("input", () => this.isComposing || this.takeInput())
    this.area.addEventListener("compositionstart", () => (this.isComposing = true))
    this.area.addEventListener("compositionend", () => {
      this.isComposing = false
      this.takeInput()
    })
    this.area.addEventListener("keydown", (event) => this.press(event))
    this.area.addEventListener("beforeinput", (event) => {
      if (event.inputType === "historyUndo") undo(view)
      else if (event.inputType === "historyRedo") redo(view)
      else return
      event.preventDefault()
    })
    document.addEventListener("selectionchange", this.followSelection)
    const { main } = view.state.selection
    paper.parentElement?.classList.add("tl-plain-on")
    paper.after(this.element)
    this.show()
    this.area.focus()
    this.area.setSelectionRange(main.from, main.to)
  }

  close(): void {
    document.removeEventListener("selectionchange", this.followSelection)
    this.host.paper.parentElement?.classList.remove("tl-plain-on")
    this.element.remove()
    this.host.view.requestMeasure()
    this.host.view.focus()
  }

  /** The document changed: by this textarea, by undo, by someone else. */
  noteUpdate(update: ViewUpdate): void {
    if (!update.docChanged || this.isOwn || this.isComposing) return
    const { selectionStart, selectionEnd } = this.area
    this.area.value = update.state.doc.toString()
    this.area.setSelectionRange(update.changes.mapPos(selectionStart, 1), update.changes.mapPos(selectionEnd, 1))
  }

  show(): void {
    const { state } = this.host.view
    const open = openSuggestions(state)
    const signature = JSON.stringify(open.map((one) => [one.ids, one.chosen, one.picks, one.verdicts, placeOf(state, one) !== null]))
    refill(this.list, signature, () =>
      open.length === 0 ? [h("li", { class: "tl-empty" }, "No suggestions are open.")] : open.map((one, at) => this.item(one, at + 1)),
    )
  }

  private item(suggestion: OpenSuggestion, number: number): HTMLElement {
    const { wire, choices, chosen } = suggestion
    const { view, decisions } = this.host
    const another = (): void => view.dispatch({ effects: chooseAlternative.of({ id: wire.id, index: chosen + 1 }) })
    return h(
      "li",
      {},
      ...changesOf(suggestion).map((change) => h("p", {}, sentenceOf(change, number))),
      flagList(suggestion.choices[chosen]?.flags ?? []),
      h(
        "div",
        { class: "tl-row" },
        button("Accept", () => decisions.accept([wire.id]), { class: "tl-quiet", "data-key": `accept-${wire.id}`, "aria-label": `Accept region ${number}` }),
        button("Reject", () => decisions.reject([wire.id]), { class: "tl-quiet", "data-key": `reject-${wire.id}`, "aria-label": `Reject region ${number}` }),
        choices.length > 1 &&
          button(`Another (${chosen + 1} of ${choices.length})`, another, { class: "tl-quiet", "data-key": `another-${wire.id}` }),
      ),
    )
  }

  /** Hands the difference to the editor as one change; what it does not take is taken back here. */
  private takeInput(): void {
    const { view } = this.host
    const before = view.state.doc.toString()
    const after = this.area.value
    const { from, to, insert } = differenceOf(before, after, this.area.selectionEnd)
    this.isOwn = true
    view.dispatch({ changes: { from, to, insert: view.state.toText(insert) }, selection: { anchor: from + insert.length }, userEvent: "input.type" })
    this.isOwn = false
    const text = view.state.doc.toString()
    if (text === after) return
    this.area.value = text
    const at = view.state.selection.main.head
    this.area.setSelectionRange(at, at)
  }

  private press(event: KeyboardEvent): void {
    const isMod = event.ctrlKey || event.metaKey
    const key = event.key.toLowerCase()
    if (!isMod || event.altKey || (key !== "z" && key !== "y")) return
    event.preventDefault()
    if (key === "y" || event.shiftKey) redo(this.host.view)
    else undo(this.host.view)
  }

  /** Lock, region and refine work on the editor's selection. */
  private readonly followSelection = (): void => {
    if (document.activeElement !== this.area || this.isComposing) return
    const { view } = this.host
    const [anchor, head] = [this.area.selectionStart, this.area.selectionEnd]
    if (head > view.state.doc.length) return
    const { main } = view.state.selection
    if (main.from !== anchor || main.to !== head) view.dispatch({ selection: { anchor, head } })
  }
}

/** "Region 2: “was” became “is”." */
function sentenceOf({ suggestion, before, after, verdict }: Change, number: number): string {
  const start = `Region ${number}`
  const end = verdict === "open" ? "." : verdict === "kept" ? " (kept)." : " (left out)."
  if (suggestion.isBlank) return `${start}: the blank became “${after.trim()}”${end}`
  if (before.trim() === "") return `${start}: “${after.trim()}” was added${end}`
  if (after.trim() === "") return `${start}: “${before.trim()}” was taken out${end}`
  return `${start}: “${before.trim()}” became “${after.trim()}”${end}`
}

/** The one stretch that differs; with repeated characters, the one that ends at the caret. Pure. */
export function differenceOf(before: string, after: string, caret: number): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length)
  let end = 0
  const limit = Math.min(most, after.length - caret)
  while (end < limit && before[before.length - 1 - end] === after[after.length - 1 - end]) end++
  let from = 0
  while (from < most - end && before[from] === after[from]) from++
  // Not through the middle of a surrogate pair.
  if (from > 0 && /[\ud800-\udbff]/.test(after[from - 1] ?? before[from - 1] ?? "")) from--
  while (end > 0 && /[\udc00-\udfff]/.test(after[after.length - end] ?? "")) end--
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) }
}
