/**
 * Suggestions drawn in place: what would go is struck through, what would come is underlined, what
 * is decided says so, and a small card under the region offers the rest. None of it is document text.
 */

import { type EditorState, type Extension, Facet, type Range, RangeSet } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view"
import { diffWords } from "./diff"
import { h } from "./dom"
import { peekField } from "./peek"
import {
  activateSuggestion,
  changesOf,
  keepReview,
  type OpenSuggestion,
  openSuggestions,
  placeOf,
  reviewField,
  suggestedText,
  type Change,
} from "./review"
import { ReviewCard } from "./review_card"
import { type Span, spansField } from "./spans"

export interface ReviewActions {
  accept(ids: readonly string[]): void
  reject(ids: readonly string[]): void
  /** Decides one change and goes on to the next. */
  judge(verdict: "kept" | "left"): void
  compareAlternatives(): void
  returnToText(): void
}

const NO_ACTIONS: ReviewActions = {
  accept: () => undefined,
  reject: () => undefined,
  judge: () => undefined,
  compareAlternatives: () => undefined,
  returnToText: () => undefined,
}

export const reviewActions = Facet.define<ReviewActions, ReviewActions>({ combine: (values) => values[0] ?? NO_ACTIONS })

class InsertedWidget extends WidgetType {
  constructor(
    private readonly text: string,
    private readonly name: string,
    private readonly place: { id: string; group: number | null },
  ) {
    super()
  }

  override eq(other: InsertedWidget): boolean {
    const { id, group } = this.place
    return other.text === this.text && other.name === this.name && other.place.id === id && other.place.group === group
  }

  override toDOM(view: EditorView): HTMLElement {
    const element = h("ins", { class: this.name }, this.text)
    element.addEventListener("mousedown", () => view.dispatch({ effects: activateSuggestion.of(this.place) }))
    return element
  }

  override ignoreEvent(event: Event): boolean {
    return event.type !== "mousedown"
  }
}

class CardWidget extends WidgetType {
  constructor(
    private readonly suggestion: OpenSuggestion,
    private readonly group: number | null,
    private readonly position: number,
    private readonly count: number,
  ) {
    super()
  }

  override eq(other: CardWidget): boolean {
    return (
      other.suggestion === this.suggestion &&
      other.group === this.group &&
      other.position === this.position &&
      other.count === this.count
    )
  }

  override toDOM(view: EditorView): HTMLElement {
    return this.shown(new ReviewCard(view)).element
  }

  // The card may hold the focus: it is refilled, never replaced.
  override updateDOM(element: HTMLElement): boolean {
    const card = ReviewCard.of(element)
    if (card !== null) this.shown(card)
    return card !== null
  }

  private shown(card: ReviewCard): ReviewCard {
    card.show({ suggestion: this.suggestion, group: this.group, position: this.position, count: this.count })
    return card
  }

  override get estimatedHeight(): number {
    return 52
  }

  override ignoreEvent(): boolean {
    return true
  }
}

function marksOfBlank(suggestion: OpenSuggestion, span: Span, isActive: boolean): Range<Decoration>[] {
  // A blank's marker says nothing: the filling stands in its place.
  const name = `tl-ins${isActive ? " tl-active" : ""}`
  const widget = new InsertedWidget(suggestedText(suggestion), name, { id: suggestion.wire.id, group: null })
  return [Decoration.replace({ widget }).range(span.from, span.to)]
}

function marksOfChange(change: Change, span: Span, isActive: boolean): Range<Decoration>[] {
  const { suggestion, group: index, verdict, before, after } = change
  const group = index === null ? undefined : suggestion.groups[index]
  if (group === undefined) return []
  const place = { id: suggestion.wire.id, group: index }
  const active = isActive ? " tl-active" : ""
  const start = span.from + group.from
  const end = span.from + group.to
  if (verdict === "left") return start < end ? [Decoration.mark({ class: "tl-left" }).range(start, end)] : []
  const name = verdict === "kept" ? `tl-ins tl-kept${active}` : `tl-ins${active}`
  return diffWords(before, after).flatMap((hunk) => {
    const [from, to] = [start + hunk.from, start + hunk.to]
    const widget = new InsertedWidget(hunk.inserted, name, place)
    if (verdict === "kept" && from < to) return [Decoration.replace({ widget }).range(from, to)]
    const marks: Range<Decoration>[] = []
    if (from < to) marks.push(Decoration.mark({ tagName: "del", class: `tl-del${active}` }).range(from, to))
    if (hunk.inserted !== "") marks.push(Decoration.widget({ widget, side: 1 }).range(to))
    return marks
  })
}

function decorate(state: EditorState): DecorationSet {
  const ordered = openSuggestions(state)
  const { activeId, activeGroup } = state.field(reviewField)
  const isPeeking = state.field(peekField)
  const ranges = ordered.flatMap((suggestion, index) => {
    const span = placeOf(state, suggestion)
    if (span === null) return []
    const isActive = suggestion.wire.id === activeId
    const marks = isPeeking
      ? []
      : suggestion.isBlank
        ? marksOfBlank(suggestion, span, isActive)
        : changesOf(suggestion).flatMap((one) => marksOfChange(one, span, isActive && one.group === activeGroup))
    if (isActive) {
      const widget = new CardWidget(suggestion, activeGroup, index + 1, ordered.length)
      marks.push(Decoration.widget({ widget, block: true, side: 1 }).range(state.doc.lineAt(span.to).to))
    }
    return marks
  })
  return RangeSet.of(ranges, true)
}

export function reviewSupport(actions: ReviewActions): Extension {
  return [
    peekField,
    reviewField,
    keepReview,
    reviewActions.of(actions),
    EditorView.decorations.compute([reviewField, spansField, peekField, "doc"], decorate),
  ]
}
