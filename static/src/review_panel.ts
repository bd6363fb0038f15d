/** The "Review" panel: every open suggestion with its alternatives side by side. */

import type { EditorView } from "@codemirror/view"
import { button, h } from "./dom"
import { icon } from "./icons"
import { refill } from "./refill"
import { activateSuggestion, chooseAlternative, type OpenSuggestion, openSuggestions, placeOf, reviewField } from "./review"

export interface ReviewPanelHost {
  readonly view: EditorView
  accept(ids: readonly string[]): void
  reject(ids: readonly string[]): void
  goToSuggestion(suggestion: OpenSuggestion): void
}

export class ReviewPanel {
  readonly element = h("section", { class: "tl-panel", "aria-label": "Review" })
  private readonly body = h("div", {})

  constructor(private readonly host: ReviewPanelHost) {
    this.element.append(this.body)
  }

  show(): void {
    const { state } = this.host.view
    const open = openSuggestions(state)
    const { activeId } = state.field(reviewField)
    const placeable = open.filter((suggestion) => placeOf(state, suggestion) !== null)
    const signature = JSON.stringify([
      activeId,
      open.map((suggestion) => [suggestion.ids, suggestion.chosen, placeable.includes(suggestion)]),
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
      button([icon("check"), `Accept all (${ids.length})`], () => this.host.accept(ids), {
        class: "tl-primary",
        "data-key": "accept-all",
        disabled: ids.length === 0,
      }),
      button("Reject all", () => this.host.reject(open.map(({ wire }) => wire.id)), {
        class: "tl-quiet",
        "data-key": "reject-all",
      }),
    )
  }

  private item(suggestion: OpenSuggestion, activeId: string | null, placeable: readonly OpenSuggestion[]): HTMLElement {
    const { wire } = suggestion
    const canPlace = placeable.includes(suggestion)
    const pick = (index: number): void =>
      this.host.view.dispatch({ effects: [chooseAlternative.of({ id: wire.id, index }), activateSuggestion.of(wire.id)] })
    const alternatives = suggestion.choices.map((alternative, index) => {
      const input = h("input", { type: "radio", name: `alternative-${wire.id}`, "data-key": `${wire.id}-${index}` })
      input.checked = index === suggestion.chosen
      input.addEventListener("change", () => pick(index))
      return h(
        "label",
        { class: "tl-alternative" },
        input,
        h("span", { class: "tl-alternative-text" }, alternative.text || "(nothing)"),
        scoreOf(alternative.score.toFixed(2)),
      )
    })
    return h(
      "article",
      { class: `tl-suggestion ${wire.id === activeId ? "tl-current" : ""}` },
      h("p", { class: "tl-was" }, h("span", { class: "tl-kind" }, "was"), h("del", {}, wire.original)),
      canPlace ? null : h("p", { class: "tl-warning" }, "The region has changed since. This cannot be placed."),
      h("fieldset", { class: "tl-alternatives" }, h("legend", {}, "Alternatives"), ...alternatives),
      h(
        "div",
        { class: "tl-row" },
        button("Show", () => this.host.goToSuggestion(suggestion), { class: "tl-quiet", "data-key": `go-${wire.id}` }),
        h("span", { class: "tl-card-gap" }),
        button("Reject", () => this.host.reject([wire.id]), { class: "tl-quiet", "data-key": `reject-${wire.id}` }),
        button("Accept", () => this.host.accept([wire.id]), {
          class: "tl-primary",
          "data-key": `accept-${wire.id}`,
          disabled: !canPlace,
        }),
      ),
    )
  }
}

function scoreOf(score: string): HTMLElement {
  const meaning = "How well it joins, log-probability per token; higher is better"
  return h("span", { class: "tl-score", role: "img", title: meaning, "aria-label": `${score}. ${meaning}` }, score)
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
