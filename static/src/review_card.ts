/**
 * The card under a region with a suggestion: which alternative, which change, keep or leave.
 *
 * Built once and refilled, so that focus stays where it is. While it holds the focus, left and
 * right turn the alternative, up and down the words of this change, Enter and Delete decide the
 * change, Shift+Enter and Shift+Delete the whole suggestion, Escape goes back to the text.
 */

import type { EditorView } from "@codemirror/view"
import { button, h, iconButton, replaceChildren } from "./dom"
import { flagList } from "./facts"
import { icon } from "./icons"
import { setPeek } from "./peek"
import { type Change, changesOf, chooseAlternative, type OpenSuggestion, pickWords, pureChoice, shownFlags } from "./review"
import { reviewActions } from "./review_marks"
import { BASE, offers } from "./word_groups"

const CARDS = new WeakMap<HTMLElement, ReviewCard>()

export interface CardFacts {
  readonly suggestion: OpenSuggestion
  readonly group: number | null
  readonly position: number
  readonly count: number
}

export class ReviewCard {
  readonly element: HTMLElement
  private readonly count = h("span", { class: "tl-card-count" })
  private readonly place = h("span", { class: "tl-card-place" })
  private readonly turner: HTMLElement
  private readonly compare: HTMLButtonElement
  private readonly accept: HTMLButtonElement
  private readonly reject: HTMLButtonElement
  private readonly changeRow = h("div", { class: "tl-card-change" })
  private readonly flags = h("div", { class: "tl-card-flags" })
  private facts: CardFacts | null = null

  constructor(private readonly view: EditorView) {
    this.turner = h(
      "span",
      { class: "tl-card-turn" },
      iconButton(icon("left"), "Previous alternative", () => this.turn(-1)),
      this.count,
      iconButton(icon("right"), "Next alternative (Alt+Shift+R)", () => this.turn(1)),
    )
    this.compare = iconButton(icon("columns"), "Alternatives side by side", () => this.actions.compareAlternatives())
    this.reject = button([icon("cross"), h("span", {}, "Reject")], () => this.decide("reject"), { class: "tl-quiet" })
    this.accept = button([icon("check"), h("span", {}, "Accept")], () => this.decide("accept"), { class: "tl-primary" })
    this.element = h(
      "div",
      { class: "tl-card", role: "group", tabindex: "-1", contenteditable: "false" },
      this.changeRow,
      this.flags,
      h(
        "div",
        { class: "tl-card-main" },
        this.place,
        this.turner,
        this.compare,
        this.peekButton(),
        h("span", { class: "tl-card-gap" }),
        this.reject,
        this.accept,
      ),
    )
    this.element.addEventListener("keydown", (event) => this.press(event))
    CARDS.set(this.element, this)
  }

  static of(element: HTMLElement): ReviewCard | null {
    return CARDS.get(element) ?? null
  }

  show(facts: CardFacts): void {
    this.facts = facts
    const { suggestion, group, position, count: total } = facts
    const count = suggestion.choices.length
    const isMixed = pureChoice(suggestion) === null
    const changes = changesOf(suggestion)
    replaceChildren(this.count, isMixed ? `mix of ${count}` : `${suggestion.chosen + 1} of ${count}`)
    replaceChildren(this.place, total > 1 ? `Suggestion ${position} of ${total}` : "Suggestion")
    this.turner.hidden = this.compare.hidden = count < 2
    this.element.setAttribute("data-suggestion", suggestion.wire.id)
    const flags = flagList(shownFlags(suggestion))
    replaceChildren(this.flags, flags)
    this.flags.hidden = flags === null
    this.showChange(changes, group)
    this.element.setAttribute("aria-label", labelOf(facts, changes))
  }

  private showChange(changes: readonly Change[], group: number | null): void {
    const isOne = changes.length < 2
    this.changeRow.hidden = isOne
    setWords(this.reject, isOne ? "Reject" : "Reject all")
    setWords(this.accept, isOne ? "Accept" : `Accept all ${changes.filter(({ verdict }) => verdict !== "left").length}`)
    if (isOne) return
    const at = Math.max(0, changes.findIndex((one) => one.group === group))
    const change = changes[at] as Change
    const focused = this.changeRow.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null
    replaceChildren(
      this.changeRow,
      h("span", { class: "tl-card-place" }, `Change ${at + 1} of ${changes.length}`),
      h("span", { class: "tl-card-words" }, ...changeWords(change)),
      this.wordTurner(change),
      h("span", { class: "tl-card-gap" }),
      change.verdict === "open" ? null : h("span", { class: "tl-verdict" }, change.verdict === "kept" ? "kept" : "left out"),
      iconButton(icon("cross"), "Leave this change out (Delete)", () => this.actions.judge("left"), { "data-key": "left" }),
      iconButton(icon("check"), "Keep this change (Enter)", () => this.actions.judge("kept"), { "data-key": "kept" }),
    )
    if (focused) this.changeRow.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus({ preventScroll: true })
  }

  /** Other words that some alternative has in this place. */
  private wordTurner(change: Change): HTMLElement | null {
    const words = this.offered(change)
    if (words.length < 2) return null
    const at = words.findIndex((one) => one.words === change.after)
    return iconButton(icon("swap"), `Other words here (Down): ${at + 1} of ${words.length}`, () => this.turnWords(1), {
      "data-key": "swap",
    })
  }

  private offered({ suggestion, group }: Change): { words: string; pick: number }[] {
    const words = group === null ? undefined : suggestion.groups[group]
    return words === undefined ? [] : offers(suggestion.base, words).filter(({ pick }) => pick !== BASE)
  }

  private get actions(): import("./review_marks").ReviewActions {
    return this.view.state.facet(reviewActions)
  }

  private peekButton(): HTMLElement {
    const name = "Hold to see the original"
    const peek = button("Original", () => undefined, { class: "tl-quiet", title: `${name} (Alt+Shift+O)`, "aria-label": name })
    const show = (isPeeking: boolean): void => this.view.dispatch({ effects: setPeek.of(isPeeking) })
    peek.addEventListener("pointerdown", () => show(true))
    peek.addEventListener("keydown", ({ key }) => (key === "Enter" || key === " ") && show(true))
    for (const end of ["pointerup", "pointerleave", "keyup", "blur"]) peek.addEventListener(end, () => show(false))
    return peek
  }

  private turn(step: 1 | -1): void {
    if (this.facts === null) return
    const { wire, chosen } = this.facts.suggestion
    this.view.dispatch({ effects: chooseAlternative.of({ id: wire.id, index: chosen + step }) })
  }

  private turnWords(step: 1 | -1): boolean {
    const { suggestion, group } = this.facts ?? {}
    const change = suggestion && changesOf(suggestion).find((one) => one.group === group)
    if (change === undefined || change.group === null) return false
    const words = this.offered(change)
    const at = words.findIndex((one) => one.words === change.after)
    const next = words[(at + step + words.length) % words.length]
    if (next === undefined) return false
    this.view.dispatch({ effects: pickWords.of({ id: change.suggestion.wire.id, group: change.group, pick: next.pick }) })
    return true
  }

  private decide(verdict: "accept" | "reject"): void {
    if (this.facts !== null) this.actions[verdict]([this.facts.suggestion.wire.id])
  }

  private press(event: KeyboardEvent): void {
    const isOnButton = event.target instanceof HTMLButtonElement
    const { key, shiftKey } = event
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (key === "ArrowLeft") this.turn(-1)
    else if (key === "ArrowRight") this.turn(1)
    else if (key === "ArrowDown" || key === "ArrowUp") this.turnWords(key === "ArrowDown" ? 1 : -1)
    else if (key === "Enter" && !isOnButton) shiftKey ? this.decide("accept") : this.actions.judge("kept")
    else if (key === "Delete" || key === "Backspace") shiftKey ? this.decide("reject") : this.actions.judge("left")
    else if (key === "Escape") this.actions.returnToText()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
}

function setWords(element: HTMLElement, words: string): void {
  const label = element.querySelector("span")
  if (label !== null) label.textContent = words
}

/** A change as struck-out and underlined words; white space is named, since it cannot be seen. */
export function changeWords({ before, after }: { before: string; after: string }): Node[] {
  const visible = (words: string): string => (words.trim() === "" ? words.replaceAll(" ", "␣").replaceAll("\n", "¶") : words)
  const parts: Node[] = []
  if (before !== "") parts.push(h("del", { class: "tl-del" }, visible(before)))
  if (before !== "" && after !== "") parts.push(document.createTextNode(" "))
  if (after !== "") parts.push(h("ins", { class: "tl-ins" }, visible(after)))
  return parts
}

function labelOf({ suggestion, group, position, count }: CardFacts, changes: readonly Change[]): string {
  const alternative = `alternative ${suggestion.chosen + 1} of ${suggestion.choices.length}`
  const at = changes.findIndex((one) => one.group === group)
  const change = changes[at]
  const which =
    changes.length < 2 || change === undefined
      ? ""
      : `Change ${at + 1} of ${changes.length}: ${change.before.trim() || "nothing"} becomes ${change.after.trim() || "nothing"}. `
  return (
    `Suggestion ${position} of ${count}, ${alternative}. ${which}` +
    "Left and right change the alternative, Enter keeps, Delete rejects, F8 goes to the next change."
  )
}
