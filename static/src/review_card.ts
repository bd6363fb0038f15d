/**
 * The card under a region with a suggestion: which alternative, accept, reject.
 *
 * Built once and refilled, so that focus stays where it is. While it holds the focus, arrows change
 * the alternative, Enter accepts, Delete rejects, Escape goes back to the text.
 */

import type { EditorView } from "@codemirror/view"
import { button, h, iconButton, replaceChildren } from "./dom"
import { icon } from "./icons"
import { chooseAlternative, type OpenSuggestion, reviewActions } from "./review"

const CARDS = new WeakMap<HTMLElement, ReviewCard>()

export class ReviewCard {
  readonly element: HTMLElement
  private readonly count = h("span", { class: "tl-card-count" })
  private readonly place = h("span", { class: "tl-card-place" })
  private readonly turner: HTMLElement
  private suggestion: OpenSuggestion | null = null

  constructor(private readonly view: EditorView) {
    this.turner = h(
      "span",
      { class: "tl-card-turn" },
      iconButton(icon("left"), "Previous alternative", () => this.turn(-1)),
      this.count,
      iconButton(icon("right"), "Next alternative (Alt+Shift+R)", () => this.turn(1)),
    )
    const peek = button("Original", () => undefined, {
      class: "tl-quiet",
      title: "Hold to see the original",
      "aria-label": "Hold to see the original",
    })
    for (const [start, end] of [["pointerdown", "pointerup"], ["keydown", "keyup"]] as const) {
      peek.addEventListener(start, () => this.view.dom.classList.add("tl-peek"))
      peek.addEventListener(end, () => this.view.dom.classList.remove("tl-peek"))
    }
    for (const end of ["pointerleave", "blur"]) {
      peek.addEventListener(end, () => this.view.dom.classList.remove("tl-peek"))
    }
    this.element = h(
      "div",
      { class: "tl-card", role: "group", tabindex: "-1", contenteditable: "false" },
      this.place,
      this.turner,
      peek,
      h("span", { class: "tl-card-gap" }),
      button([icon("cross"), "Reject"], () => this.decide("reject"), { class: "tl-quiet" }),
      button([icon("check"), "Accept"], () => this.decide("accept"), { class: "tl-primary" }),
    )
    this.element.addEventListener("keydown", (event) => this.press(event))
    CARDS.set(this.element, this)
  }

  static of(element: HTMLElement): ReviewCard | null {
    return CARDS.get(element) ?? null
  }

  show(suggestion: OpenSuggestion, position: number, total: number): void {
    this.suggestion = suggestion
    const count = suggestion.choices.length
    replaceChildren(this.count, `${suggestion.chosen + 1} of ${count}`)
    replaceChildren(this.place, total > 1 ? `Suggestion ${position} of ${total}` : "Suggestion")
    this.turner.hidden = count < 2
    this.element.setAttribute("data-suggestion", suggestion.wire.id)
    this.element.setAttribute(
      "aria-label",
      `Suggestion ${position} of ${total}, alternative ${suggestion.chosen + 1} of ${count}. ` +
        "Arrow keys change the alternative, Enter accepts, Delete rejects.",
    )
  }

  private turn(step: 1 | -1): void {
    if (this.suggestion === null) return
    const { wire, chosen } = this.suggestion
    this.view.dispatch({ effects: chooseAlternative.of({ id: wire.id, index: chosen + step }) })
  }

  private decide(verdict: "accept" | "reject"): void {
    if (this.suggestion === null) return
    this.view.state.facet(reviewActions)[verdict]([this.suggestion.wire.id])
  }

  private press(event: KeyboardEvent): void {
    const isOnButton = event.target instanceof HTMLButtonElement
    if (event.key === "ArrowLeft") this.turn(-1)
    else if (event.key === "ArrowRight") this.turn(1)
    else if (event.key === "Enter" && !isOnButton) this.decide("accept")
    else if (event.key === "Delete" || event.key === "Backspace") this.decide("reject")
    else if (event.key === "Escape") this.view.state.facet(reviewActions).returnToText()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}
