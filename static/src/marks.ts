/**
 * How locks, regions and fields look in the text. Told apart without colour: a lock has a padlock
 * and a solid underline, a region a bracket and a dashed one, a field a dotted box. The padlock is
 * drawn by the mark itself, so that no line can break between it and its word.
 */

import { type EditorState, type Extension, type Range, RangeSet } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view"
import { h } from "./dom"
import { busyRegions, draftsField, shownDraft } from "./drafts"
import { peekField } from "./peek"
import { draggedField } from "./region_handles"
import { type Span, spansField, spansOf } from "./spans"

class EdgeGlyph extends WidgetType {
  constructor(
    private readonly kind: "locked" | "region",
    private readonly isBusy: boolean,
  ) {
    super()
  }

  override eq(other: EdgeGlyph): boolean {
    return other.kind === this.kind && other.isBusy === this.isBusy
  }

  override toDOM(): HTMLElement {
    const name = this.kind === "locked" ? "locked: " : this.isBusy ? "region being refined: " : "region: "
    return h("span", { class: `tl-edge tl-edge-${this.kind}`, role: "img", "aria-label": name })
  }
}

const LOCK_GLYPH = Decoration.widget({ widget: new EdgeGlyph("locked", false), side: 1 })
const REGION_GLYPH = Decoration.widget({ widget: new EdgeGlyph("region", false), side: 1 })
const BUSY_GLYPH = Decoration.widget({ widget: new EdgeGlyph("region", true), side: 1 })

const LOCK_MARK = Decoration.mark({ class: "tl-lock" })
const FIELD_MARK = Decoration.mark({ class: "tl-field" })
const REGION_MARK = Decoration.mark({ class: "tl-region" })
const BLANK_MARK = Decoration.mark({ class: "tl-region tl-blank" })
const BUSY_MARK = Decoration.mark({ class: "tl-region tl-busy" })

function marksOf(span: Span, state: EditorState): Range<Decoration>[] {
  if (span.kind === "locked") return [LOCK_GLYPH.range(span.from), LOCK_MARK.range(span.from, span.to)]
  if (span.kind === "field") return [FIELD_MARK.range(span.from, span.to)]
  if (shownDraft(state, span) !== null) return []
  const isBusy = state.field(busyRegions).has(span.id)
  const plain = span.settings["blank"] === true ? BLANK_MARK : REGION_MARK
  return [
    (isBusy ? BUSY_GLYPH : REGION_GLYPH).range(span.from),
    (isBusy ? BUSY_MARK : plain).range(span.from, span.to),
  ]
}

function decorate(state: EditorState): DecorationSet {
  const dragged = state.field(draggedField)
  return RangeSet.of(
    spansOf(state).flatMap((span) => marksOf(span.id === dragged?.id ? dragged : span, state)),
    true,
  )
}

export function markSupport(): Extension {
  // A region's mark gives way to its draft, so it must come back when the draft goes.
  return EditorView.decorations.compute([spansField, draggedField, busyRegions, draftsField, peekField, "selection"], decorate)
}
