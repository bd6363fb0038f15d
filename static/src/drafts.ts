/**
 * Provisional text: drawn over a region while a run works on it, never part of the document.
 *
 * A draft replaces the picture of the region's text, not the text. It steps aside while the caret
 * is inside the region. The start that will not change again is set apart by the tide line;
 * settled words stand plain, unsettled ones in italics over dots, unknown ones as blank boxes.
 */

import { type EditorState, type Extension, type Range, RangeSet, StateEffect, StateField } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view"
import { h } from "./dom"
import { peekField } from "./peek"
import type { RegionFrame } from "./protocol.gen"
import { type Span, spansField, spansOf } from "./spans"

export interface Draft {
  readonly spanId: string
  readonly text: string
  /** UTF-16 ranges of `text` that are committed. */
  readonly settled: readonly (readonly [number, number])[]
  /** Units from the start that are final for this run. */
  readonly stable: number
  /** Open words are drawn as blanks: only what has settled is to be read. */
  readonly hidesOpen?: boolean
}

export const BLANK_GLYPH = "\u2591"

/** Draws these drafts; others stay as they are. */
export const showDrafts = StateEffect.define<readonly Draft[]>()
/** Takes the drafts of these regions away. */
export const dropDrafts = StateEffect.define<readonly string[]>()
/** The regions that some run works on now. */
export const setBusyRegions = StateEffect.define<ReadonlySet<string>>()

export const busyRegions = StateField.define<ReadonlySet<string>>({
  create: () => new Set(),
  update(value, transaction) {
    for (const effect of transaction.effects) if (effect.is(setBusyRegions)) return effect.value
    return value
  },
})

export const draftsField = StateField.define<ReadonlyMap<string, Draft>>({
  create: () => new Map(),
  update(value, transaction) {
    let next = value
    for (const effect of transaction.effects) {
      if (effect.is(showDrafts)) next = new Map([...next, ...effect.value.map((draft) => [draft.spanId, draft] as const)])
      else if (effect.is(dropDrafts)) next = new Map([...next].filter(([id]) => !effect.value.includes(id)))
    }
    return next
  },
})

export function draftOf(frame: RegionFrame, stableText: string): Draft {
  const stable = frame.text.startsWith(stableText)
    ? Math.max(frame.stable_prefix, stableText.length)
    : frame.stable_prefix
  return { spanId: frame.span_id, text: frame.text, settled: frame.settled, stable }
}

/** The draft drawn over a region now, or null: none yet, or the caret is inside. */
export function shownDraft(state: EditorState, span: Span): Draft | null {
  const { head, anchor } = state.selection.main
  const isInside = (at: number): boolean => at > span.from && at < span.to
  if (isInside(head) || isInside(anchor)) return null
  return state.field(peekField) ? null : (state.field(draftsField).get(span.id) ?? null)
}

export type PieceKind = "stable" | "settled" | "open" | "blank"

export interface Piece {
  readonly kind: PieceKind
  readonly text: string
}

/** Cuts a draft into stretches of one kind, in order. Pure. */
export function piecesOf(draft: Draft): Piece[] {
  const pieces: Piece[] = []
  const add = (kind: PieceKind, text: string): void => {
    const last = pieces.at(-1)
    if (last !== undefined && last.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
    else pieces.push({ kind, text })
  }
  let at = 0
  for (const character of draft.text) {
    if (character === BLANK_GLYPH) add("blank", character)
    else if (at < draft.stable) add("stable", character)
    else add(isSettledAt(draft, at) ? "settled" : "open", character)
    at += character.length
  }
  return pieces
}

/** One blank for each open word. */
function hideOpen(piece: Piece): Piece {
  if (piece.kind !== "open") return piece
  return { kind: "blank", text: BLANK_GLYPH.repeat(piece.text.match(/\S+/g)?.length ?? 0) }
}

function isSettledAt(draft: Draft, at: number): boolean {
  return draft.settled.some(([from, to]) => at >= from && at < to)
}

class DraftWidget extends WidgetType {
  constructor(private readonly draft: Draft) {
    super()
  }

  override eq(other: DraftWidget): boolean {
    return other.draft === this.draft
  }

  override toDOM(): HTMLElement {
    const element = h("span", {
      class: "tl-draft",
      "data-span": this.draft.spanId,
      role: "group",
      "aria-label": "draft, not yet in the text",
      "aria-busy": "true",
    })
    this.fill(element)
    return element
  }

  override updateDOM(element: HTMLElement): boolean {
    if (element.dataset["span"] !== this.draft.spanId) return false
    this.fill(element)
    return true
  }

  override ignoreEvent(): boolean {
    return false
  }

  private fill(element: HTMLElement): void {
    const pieces = piecesOf(this.draft).map((piece) => (this.draft.hidesOpen ? hideOpen(piece) : piece))
    const lastStable = pieces.findLastIndex((piece) => piece.kind === "stable")
    const nodes = pieces.flatMap((piece, index) => {
      const node = pieceNode(piece)
      return index === lastStable ? [node, h("span", { class: "tl-tide", "aria-hidden": "true" })] : [node]
    })
    element.replaceChildren(...nodes)
  }
}

export function pieceNode(piece: Piece): HTMLElement {
  if (piece.kind !== "blank") return h("span", { class: `tl-${piece.kind}` }, piece.text)
  const boxes = [...piece.text].map(() => h("span", { class: "tl-box", "aria-hidden": "true" }))
  return h("span", { class: "tl-masks", role: "img", "aria-label": "blank" }, ...boxes)
}

function decorate(state: EditorState): DecorationSet {
  const ranges: Range<Decoration>[] = []
  for (const span of spansOf(state)) {
    const draft = span.kind === "locked" ? null : shownDraft(state, span)
    if (draft !== null) ranges.push(Decoration.replace({ widget: new DraftWidget(draft) }).range(span.from, span.to))
  }
  return RangeSet.of(ranges, true)
}

export function draftSupport(): Extension {
  return [
    draftsField,
    busyRegions,
    EditorView.decorations.compute([draftsField, spansField, peekField, "selection"], decorate),
  ]
}
