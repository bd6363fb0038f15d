/**
 * Suggestions in place: what would go is struck through, what would come is underlined, and a
 * small card under the region offers the alternatives. Nothing here is document text.
 *
 * Owns which suggestion is active and which alternative is chosen; deciding is the session's.
 */

import {
  type EditorState,
  type Extension,
  Facet,
  type Range,
  RangeSet,
  StateEffect,
  StateField,
} from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view"
import { diffWords } from "./diff"
import { h } from "./dom"
import type { SuggestionWire } from "./protocol.gen"
import { ReviewCard } from "./review_card"
import { type Span, spanById, spansField } from "./spans"

/** One filling to choose: which suggestion it belongs to, and its index there. */
export interface Choice {
  readonly suggestionId: string
  readonly index: number
  readonly text: string
  readonly score: number
}

/** What is open for one region: running again adds choices, it takes none away. */
export interface OpenSuggestion {
  /** The newest suggestion; its id stands for all. */
  readonly wire: SuggestionWire
  readonly ids: readonly string[]
  /** Newest first. */
  readonly choices: readonly Choice[]
  /** Index of the choice shown. */
  readonly chosen: number
}

export interface ReviewValue {
  /** In order of arrival, one per region. */
  readonly open: readonly OpenSuggestion[]
  readonly activeId: string | null
}

export interface ReviewActions {
  accept(ids: readonly string[]): void
  reject(ids: readonly string[]): void
  returnToText(): void
}

export const reviewActions = Facet.define<ReviewActions, ReviewActions>({
  combine: (values) => values[0] ?? { accept: () => undefined, reject: () => undefined, returnToText: () => undefined },
})

/** Everything the server holds open; choices made here are kept. */
export const receiveSuggestions = StateEffect.define<readonly SuggestionWire[]>()
export const chooseAlternative = StateEffect.define<{ id: string; index: number }>()
export const activateSuggestion = StateEffect.define<string | null>()

export const reviewField = StateField.define<ReviewValue>({
  create: () => ({ open: [], activeId: null }),
  update(value, transaction) {
    let next = value
    for (const effect of transaction.effects) {
      if (effect.is(receiveSuggestions)) next = received(next, effect.value)
      else if (effect.is(chooseAlternative)) next = chosen(next, effect.value.id, effect.value.index)
      else if (effect.is(activateSuggestion)) next = { ...next, activeId: effect.value }
    }
    return next
  },
})

function received(value: ReviewValue, wires: readonly SuggestionWire[]): ReviewValue {
  const bySpan = Map.groupBy(wires, (wire) => wire.span_id)
  const open = [...bySpan.values()].map((group) => gathered(group, value))
  const isActiveOpen = open.some((suggestion) => suggestion.wire.id === value.activeId)
  return { open, activeId: isActiveOpen ? value.activeId : (open[0]?.wire.id ?? null) }
}

function gathered(wires: readonly SuggestionWire[], value: ReviewValue): OpenSuggestion {
  const newest = wires[wires.length - 1] as SuggestionWire
  const choices = [...wires]
    .reverse()
    .flatMap(({ id, alternatives }) =>
      alternatives.map(({ text, score }, index) => ({ suggestionId: id, index, text, score })),
    )
    .filter((choice, at, all) => all.findIndex(({ text }) => text === choice.text) === at)
  const known = value.open.find((suggestion) => suggestion.wire.id === newest.id)
  return { wire: newest, ids: wires.map(({ id }) => id), choices, chosen: known?.chosen ?? 0 }
}

function chosen(value: ReviewValue, id: string, index: number): ReviewValue {
  const open = value.open.map((suggestion) => {
    if (suggestion.wire.id !== id) return suggestion
    const count = suggestion.choices.length
    return { ...suggestion, chosen: ((index % count) + count) % count }
  })
  return { open, activeId: id }
}

export function openSuggestions(state: EditorState): readonly OpenSuggestion[] {
  const { open } = state.field(reviewField)
  const start = (suggestion: OpenSuggestion): number => spanById(state, suggestion.wire.span_id)?.from ?? 0
  return [...open].sort((a, b) => start(a) - start(b))
}

export function activeSuggestion(state: EditorState): OpenSuggestion | null {
  const { open, activeId } = state.field(reviewField)
  return open.find((suggestion) => suggestion.wire.id === activeId) ?? null
}

export function chosenText(suggestion: OpenSuggestion): string {
  return suggestion.choices[suggestion.chosen]?.text ?? suggestion.wire.original
}

/** Where a suggestion can be placed: its region, if that still holds the text it was made for. */
export function placeOf(state: EditorState, suggestion: OpenSuggestion): Span | null {
  const span = spanById(state, suggestion.wire.span_id)
  if (span === undefined) return null
  return state.sliceDoc(span.from, span.to) === suggestion.wire.original ? span : null
}

class InsertedWidget extends WidgetType {
  constructor(
    private readonly text: string,
    private readonly id: string,
    private readonly isActive: boolean,
  ) {
    super()
  }

  override eq(other: InsertedWidget): boolean {
    return other.text === this.text && other.id === this.id && other.isActive === this.isActive
  }

  override toDOM(view: EditorView): HTMLElement {
    const active = this.isActive ? " tl-active" : ""
    const element = h("ins", { class: `tl-ins${active}` }, this.text)
    element.addEventListener("mousedown", () => view.dispatch({ effects: activateSuggestion.of(this.id) }))
    return element
  }

  override ignoreEvent(event: Event): boolean {
    return event.type !== "mousedown"
  }
}

class CardWidget extends WidgetType {
  constructor(
    private readonly suggestion: OpenSuggestion,
    private readonly position: number,
    private readonly count: number,
  ) {
    super()
  }

  override eq(other: CardWidget): boolean {
    return (
      other.suggestion === this.suggestion && other.position === this.position && other.count === this.count
    )
  }

  override toDOM(view: EditorView): HTMLElement {
    const card = new ReviewCard(view)
    card.show(this.suggestion, this.position, this.count)
    return card.element
  }

  // The card may hold the focus: it is refilled, never replaced.
  override updateDOM(element: HTMLElement): boolean {
    const card = ReviewCard.of(element)
    if (card === null) return false
    card.show(this.suggestion, this.position, this.count)
    return true
  }

  override get estimatedHeight(): number {
    return 52
  }

  override ignoreEvent(): boolean {
    return true
  }
}

function hunkMarks(suggestion: OpenSuggestion, span: Span, isActive: boolean): Range<Decoration>[] {
  const { wire } = suggestion
  const active = isActive ? " tl-active" : ""
  const inserted = (text: string): WidgetType => new InsertedWidget(text, wire.id, isActive)
  // A blank's marker says nothing: the filling stands in its place.
  if (span.settings["blank"] === true) {
    const widget = inserted(chosenText(suggestion))
    return [Decoration.replace({ widget }).range(span.from, span.to)]
  }
  return diffWords(wire.original, chosenText(suggestion)).flatMap((hunk) => {
    const [from, to] = [span.from + hunk.from, span.from + hunk.to]
    const marks: Range<Decoration>[] = []
    if (from < to) marks.push(Decoration.mark({ tagName: "del", class: `tl-del${active}` }).range(from, to))
    if (hunk.inserted !== "") {
      marks.push(Decoration.widget({ widget: inserted(hunk.inserted), side: 1 }).range(to))
    }
    return marks
  })
}

function decorate(state: EditorState): DecorationSet {
  const ordered = openSuggestions(state)
  const { activeId } = state.field(reviewField)
  const ranges = ordered.flatMap((suggestion, index) => {
    const span = placeOf(state, suggestion)
    if (span === null) return []
    const isActive = suggestion.wire.id === activeId
    const marks = hunkMarks(suggestion, span, isActive)
    if (isActive) {
      const widget = new CardWidget(suggestion, index + 1, ordered.length)
      marks.push(Decoration.widget({ widget, block: true, side: 1 }).range(state.doc.lineAt(span.to).to))
    }
    return marks
  })
  return RangeSet.of(ranges, true)
}

/** The suggestion before or after the active one, in document order, going round. */
export function neighbour(state: EditorState, step: 1 | -1): OpenSuggestion | null {
  const ordered = openSuggestions(state)
  if (ordered.length === 0) return null
  const index = ordered.findIndex((suggestion) => suggestion.wire.id === state.field(reviewField).activeId)
  return ordered[(index + step + ordered.length) % ordered.length] ?? null
}

export function reviewSupport(actions: ReviewActions): Extension {
  return [
    reviewField,
    reviewActions.of(actions),
    EditorView.decorations.compute([reviewField, spansField, "doc"], decorate),
  ]
}
