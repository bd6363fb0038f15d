/** The "Review" panel: every open suggestion, its alternatives, and each change to keep or leave. */

import type { EditorView } from "@codemirror/view"
import { button, h, iconButton } from "./dom"
import { flagList } from "./facts"
import { icon } from "./icons"
import { refill } from "./refill"
import {
  activateSuggestion,
  type Change,
  changesOf,
  chooseAlternative,
  type OpenSuggestion,
  openSuggestions,
  placeOf,
  pureChoice,
  reviewField,
  shownFlags,
} from "./review"
import { changeWords } from "./review_card"
import type { ReviewActions } from "./review_marks"

export interface ReviewPanelHost {
  readonly view: EditorView
  readonly decisions: ReviewActions
  goToSuggestion(suggestion: OpenSuggestion, group?: number | null): void
}

export class ReviewPanel {
  constructor(
    private readonly body: HTMLElement,
    private readonly host: ReviewPanelHost,
  ) {}

  show(): void {
    const { state } = this.host.view
    const open = openSuggestions(state)
    const { activeId } = state.field(reviewField)
    const placeable = open.filter((suggestion) => placeOf(state, suggestion) !== null)
    const signature = JSON.stringify([
      activeId,
      open.map((one) => [one.ids, one.chosen, one.picks, one.verdicts, placeable.includes(one)]),
    ])
    refill(this.body, signature, () =>
      open.length === 0 ? [emptyState()] : [this.head(open, placeable), ...open.map((one) => this.item(one, activeId, placeable))],
    )
  }

  private head(open: readonly OpenSuggestion[], placeable: readonly OpenSuggestion[]): HTMLElement {
    const ids = placeable.map(({ wire }) => wire.id)
    return h(
      "div",
      { class: "tl-row tl-review-head" },
      button([icon("check"), `Accept all (${ids.length})`], () => this.host.decisions.accept(ids), {
        class: "tl-primary",
        "data-key": "accept-all",
        disabled: ids.length === 0,
      }),
      button("Reject all", () => this.host.decisions.reject(open.map(({ wire }) => wire.id)), {
        class: "tl-quiet",
        "data-key": "reject-all",
      }),
    )
  }

  private item(suggestion: OpenSuggestion, activeId: string | null, placeable: readonly OpenSuggestion[]): HTMLElement {
    const { wire, choices } = suggestion
    const canPlace = placeable.includes(suggestion)
    const changes = changesOf(suggestion)
    const hasWords = wire.original.trim() !== "" && !suggestion.isBlank
    return h(
      "article",
      { class: `tl-suggestion ${wire.id === activeId ? "tl-current" : ""}` },
      hasWords ? h("p", { class: "tl-was" }, h("span", { class: "tl-kind" }, "was"), h("del", {}, wire.original)) : null,
      canPlace ? null : h("p", { class: "tl-warning" }, "The region has changed since. This cannot be placed."),
      h("fieldset", { class: "tl-alternatives" }, h("legend", {}, "Alternatives"), ...this.alternatives(suggestion)),
      flagList(shownFlags(suggestion)),
      changes.length < 2 ? null : h("ol", { class: "tl-changes", "aria-label": "Changes" }, ...changes.map((one) => this.change(one))),
      h(
        "div",
        { class: "tl-row" },
        button("Show", () => this.host.goToSuggestion(suggestion), { class: "tl-quiet", "data-key": `go-${wire.id}` }),
        choices.length < 2
          ? null
          : iconButton(icon("columns"), "Alternatives side by side", () => this.compare(suggestion), { "data-key": `compare-${wire.id}` }),
        h("span", { class: "tl-card-gap" }),
        button("Reject", () => this.host.decisions.reject([wire.id]), { class: "tl-quiet", "data-key": `reject-${wire.id}` }),
        button("Accept", () => this.host.decisions.accept([wire.id]), {
          class: "tl-primary",
          "data-key": `accept-${wire.id}`,
          disabled: !canPlace,
        }),
      ),
    )
  }

  private compare({ wire }: OpenSuggestion): void {
    this.host.view.dispatch({ effects: activateSuggestion.of({ id: wire.id }) })
    this.host.decisions.compareAlternatives()
  }

  private alternatives(suggestion: OpenSuggestion): HTMLElement[] {
    const { wire, choices } = suggestion
    const isMixed = pureChoice(suggestion) === null
    const best = Math.max(...choices.map(({ score }) => score))
    return choices.map((alternative, index) => {
      const input = h("input", { type: "radio", name: `tl-alternative-${wire.id}`, "data-key": `choice-${wire.id}-${index}` })
      input.checked = !isMixed && index === suggestion.chosen
      input.addEventListener("change", () =>
        this.host.view.dispatch({ effects: chooseAlternative.of({ id: wire.id, index }) }),
      )
      return h(
        "label",
        { class: "tl-alternative" },
        input,
        h("span", { class: "tl-alternative-text" }, alternative.text || "(nothing)"),
        alternative.flags.length > 0 ? h("span", { class: "tl-flag-sign", role: "img", "aria-label": "changes facts", title: "Changes facts" }, "!") : null,
        choices.length > 1 && fitOf(alternative.score - best),
      )
    })
  }

  private change(change: Change): HTMLElement {
    const { suggestion, group, verdict } = change
    const { id } = suggestion.wire
    const judge = (wanted: "kept" | "left"): void => {
      this.host.view.dispatch({ effects: activateSuggestion.of({ id, group }) })
      this.host.decisions.judge(wanted)
    }
    const key = `${id}-${group}`
    return h(
      "li",
      { class: `tl-change tl-change-${verdict}` },
      button([h("span", { class: "tl-card-words" }, ...changeWords(change))], () => this.host.goToSuggestion(suggestion, group), {
        class: "tl-change-words",
        "data-key": `change-${key}`,
      }),
      verdict === "open" ? null : h("span", { class: "tl-verdict" }, verdict === "kept" ? "kept" : "left out"),
      iconButton(icon("cross"), "Leave this change out", () => judge("left"), { "data-key": `left-${key}`, "aria-pressed": String(verdict === "left") }),
      iconButton(icon("check"), "Keep this change", () => judge("kept"), { "data-key": `kept-${key}`, "aria-pressed": String(verdict === "kept") }),
    )
  }
}

/** How well an alternative joins the text, beside the best: e to the difference of the scores per token. */
function fitOf(behind: number): HTMLElement {
  const percent = Math.round(Math.exp(behind) * 100)
  const words = behind === 0 ? "Joins the text best" : `Joins the text ${percent} % as well as the best`
  return h("span", { class: "tl-fit", role: "img", title: words, "aria-label": words }, h("i", { style: `width:${Math.max(8, percent)}%` }))
}

function emptyState(): HTMLElement {
  return h(
    "div",
    { class: "tl-empty-state" },
    icon("check"),
    h("p", {}, "Nothing to review."),
    h("p", { class: "tl-empty" }, "When a run ends, its suggestions wait here and in the text. The text stays as it is until you accept."),
  )
}
