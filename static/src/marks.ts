/**
 * How locks, regions and fields look in the text. Told apart without colour: a lock has a padlock
 * and a solid underline, a region a bracket and a dashed one, a field a dotted box. Padlock and
 * bracket are drawn by the marks themselves, so that no line can break between them and their word.
 */

import { type EditorState, type Extension, findClusterBreak, type Range, RangeSet } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView, WidgetType } from "@codemirror/view"
import { h } from "./dom"
import { busyRegions, draftsField, shownDraft } from "./drafts"
import { peekField } from "./peek"
import { draggedField } from "./region_handles"
import { type Span, spansField, spansOf } from "./spans"

/** Says to a screen reader where a lock begins; what is seen of it is drawn by the mark. */
class LockName extends WidgetType {
  override eq(): boolean {
    return true
  }

  override toDOM(): HTMLElement {
    return h("span", { role: "img", "aria-label": "locked: " })
  }
}

const LOCK_NAME = Decoration.widget({ widget: new LockName(), side: 1 })
const LOCK_MARK = Decoration.mark({ class: "tl-lock" })
const FIELD_MARK = Decoration.mark({ class: "tl-field" })
const REGION_MARK = regionMarks("tl-region")
const BLANK_MARK = regionMarks("tl-region tl-blank")
const BUSY_MARK = regionMarks("tl-region tl-busy")
/**
 * A region's bracket stands before its first word, drawn and named by the style sheet: as widgets,
 * brackets took a fifth of the time that a line of many regions needs to be laid out and painted.
 */
const REGION_EDGE = Decoration.mark({ class: "tl-edge-region" })

/** A mark for a region of several words, whose first is marked again, and for one of a single word. */
function regionMarks(name: string): { several: Decoration; single: Decoration } {
  return { several: Decoration.mark({ class: name }), single: Decoration.mark({ class: `${name} tl-edge-region` }) }
}

const MOST_OF_A_WORD = 64 // UTF-16 units

function marksOf(span: Span, state: EditorState): Range<Decoration>[] {
  if (span.kind === "locked") return [LOCK_NAME.range(span.from), LOCK_MARK.range(span.from, span.to)]
  if (span.kind === "field") return [FIELD_MARK.range(span.from, span.to)]
  if (shownDraft(state, span) !== null) return []
  const isBusy = state.field(busyRegions).has(span.id)
  const plain = span.settings["blank"] === true ? BLANK_MARK : REGION_MARK
  const marks = isBusy ? BUSY_MARK : plain
  const edgeTo = span.from + firstWordLength(state.sliceDoc(span.from, Math.min(span.to, span.from + MOST_OF_A_WORD)))
  if (edgeTo >= span.to) return [marks.single.range(span.from, span.to)]
  return [marks.several.range(span.from, span.to), REGION_EDGE.range(span.from, edgeTo)]
}

/** Of a longer word, and of white space, the first character. */
function firstWordLength(start: string): number {
  const length = start.search(/\s|$/)
  return length > 0 && length < MOST_OF_A_WORD ? length : findClusterBreak(start, 0)
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
