/**
 * Resizing a region by its two edges, with mouse, pen or finger.
 *
 * The handles lie over the text, not in it, at the region under the pointer or around the caret.
 * While one is dragged the region is only drawn at its new place: the span changes once, when the
 * handle is let go, as one undo step. Escape leaves it as it was. By keyboard the same is done by
 * marking (region_edits.ts), so the handles are hidden from screen readers.
 */

import { isolateHistory } from "@codemirror/commands"
import { type EditorState, type Extension, StateEffect, StateField } from "@codemirror/state"
import { EditorView, layer, type LayerMarker } from "@codemirror/view"
import { busyRegions } from "./drafts"
import { h } from "./dom"
import { resized } from "./region_edits"
import { type Edge, reached } from "./region_reach"
import { openSuggestions } from "./review"
import { addSpan, mapSpan, type Span, spanById, spansOfKind } from "./spans"

const FINE_WIDTH_PX = 14
const COARSE_WIDTH_PX = 24
const LEAST_HEIGHT_PX = 24
/** How far a handle reaches into its region: a region of one letter can still be clicked. */
const INSIDE_PX = 4
const COARSE = window.matchMedia("(pointer: coarse)")

/** The region under the pointer, or null. */
const pointAt = StateEffect.define<string | null>()
/** Where a dragged region would be, or null: nothing is dragged. */
const showResize = StateEffect.define<Span | null>()

const pointedField = StateField.define<string | null>({
  create: () => null,
  update(value, { effects }) {
    for (const effect of effects) if (effect.is(pointAt)) return effect.value
    return value
  },
})

/** A region as it would be if its handle were let go now; null when none is dragged. */
export const draggedField = StateField.define<Span | null>({
  create: () => null,
  update(value, { docChanged, changes, effects }) {
    let next = value !== null && docChanged ? mapSpan(value, changes) : value
    for (const effect of effects) if (effect.is(showResize)) next = effect.value
    return next !== null && next.from < next.to ? next : null
  },
})

/** The region whose handles are shown. None while a run or a suggestion is about it. */
function regionAtHand(state: EditorState): Span | null {
  const [pointed, dragged] = [state.field(pointedField), state.field(draggedField)]
  if (dragged !== null) return dragged
  const { main } = state.selection
  const around = (): Span | undefined => spansOfKind(state, "region").find(({ from, to }) => from <= main.head && main.head <= to)
  const span = (pointed === null ? undefined : spanById(state, pointed)) ?? (main.empty ? around() : undefined)
  if (span === undefined || state.field(busyRegions).has(span.id)) return null
  return openSuggestions(state).some(({ wire }) => wire.span_id === span.id) ? null : span
}

interface Place {
  /** Of the region's edge, as all of these in the scroller's own pixels. */
  readonly x: number
  readonly top: number
  readonly height: number
}

class Handle implements LayerMarker {
  constructor(
    readonly view: EditorView,
    readonly span: Span,
    readonly edge: Edge,
    readonly place: Place,
  ) {}

  eq(other: Handle): boolean {
    const { x, top, height } = this.place
    return other.span === this.span && other.place.x === x && other.place.top === top && other.place.height === height
  }

  draw(): HTMLElement {
    const element = h("div", { class: `tl-handle tl-handle-${this.edge}` })
    element.addEventListener("pointerdown", (event) => beginDrag(this.view, element, event))
    this.put(element)
    return element
  }

  // The one under the finger must stay the same element.
  update(element: HTMLElement): boolean {
    if (!element.classList.contains(`tl-handle-${this.edge}`)) return false
    this.put(element)
    return true
  }

  private put(element: HTMLElement): void {
    const { x, top, height } = this.place
    const width = COARSE.matches ? COARSE_WIDTH_PX : FINE_WIDTH_PX
    const edgeX = edgeWithin(this.edge, width)
    element.dataset["span"] = this.span.id
    element.style.cssText = `left:${x - edgeX}px;top:${top}px;width:${width}px;height:${height}px;--tl-edge-x:${edgeX}px`
  }
}

/** Where the region's edge lies within a handle of this width. */
function edgeWithin(edge: Edge, width: number): number {
  return edge === "from" ? width - INSIDE_PX : INSIDE_PX
}

function handlesOf(view: EditorView): Handle[] {
  const span = regionAtHand(view.state)
  if (span === null) return []
  const base = view.scrollDOM.getBoundingClientRect()
  return (["from", "to"] as const).flatMap((edge) => {
    const at = view.coordsAtPos(span[edge], edge === "from" ? 1 : -1)
    if (at === null) return []
    const height = Math.max(LEAST_HEIGHT_PX, at.bottom - at.top)
    const top = (at.top + at.bottom - height) / 2 - base.top + view.scrollDOM.scrollTop
    return [new Handle(view, span, edge, { x: at.left - base.left + view.scrollDOM.scrollLeft, top, height })]
  })
}

const handleLayer = layer({
  above: true,
  class: "tl-handles",
  markers: handlesOf,
  update: ({ docChanged, selectionSet, startState, state }) =>
    docChanged || selectionSet || regionAtHand(startState) !== regionAtHand(state),
})

function beginDrag(view: EditorView, handle: HTMLElement, event: PointerEvent): void {
  const edge: Edge = handle.classList.contains("tl-handle-from") ? "from" : "to"
  const span = spanById(view.state, handle.dataset["span"] ?? "")
  if (span === undefined || event.button !== 0) return
  event.preventDefault() // the caret and the focus stay where they are
  handle.setPointerCapture(event.pointerId)
  const box = handle.getBoundingClientRect()
  const offset = { x: event.clientX - box.left - edgeWithin(edge, box.width), y: event.clientY - (box.top + box.bottom) / 2 }
  const ending = new AbortController()
  const end = (isKept: boolean): void => {
    if (ending.signal.aborted) return
    ending.abort()
    endDrag(view, span, isKept)
  }
  const move = ({ clientX, clientY }: PointerEvent): void => {
    const now = spanById(view.state, span.id)
    if (now === undefined) return end(false)
    const at = view.posAtCoords({ x: clientX - offset.x, y: clientY - offset.y }, false)
    view.dispatch({ effects: showResize.of({ ...now, ...reached(view.state, now, edge, at) }) })
  }
  const listen = { signal: ending.signal }
  handle.addEventListener("pointermove", move, listen)
  handle.addEventListener("pointerup", () => end(true), listen)
  handle.addEventListener("lostpointercapture", () => end(false), listen)
  const press = (pressed: KeyboardEvent): void => {
    if (pressed.key !== "Escape") return
    pressed.preventDefault()
    pressed.stopPropagation() // it ends the drag, not a run
    end(false)
  }
  document.addEventListener("keydown", press, { ...listen, capture: true })
}

function endDrag(view: EditorView, { id }: Span, isKept: boolean): void {
  const wanted = view.state.field(draggedField)
  const span = spanById(view.state, id)
  const isChanged = wanted !== null && span !== undefined && (wanted.from !== span.from || wanted.to !== span.to)
  view.dispatch({ effects: showResize.of(null) })
  if (!isKept || !isChanged) return
  view.dispatch({
    effects: addSpan.of(resized(view.state, span, wanted)),
    annotations: isolateHistory.of("full"),
    userEvent: "span.resize",
  })
}

/** Follows the pointer from region to region; a handle belongs to the one it is drawn at. */
function notePointer(event: MouseEvent, view: EditorView): void {
  const target = event.target instanceof Element ? event.target : null
  if (event.buttons !== 0 || target?.closest(".tl-handle")) return
  const mark = target?.closest(".tl-region") ?? null
  const at = mark === null ? null : view.posAtDOM(mark)
  const span = at === null ? undefined : spansOfKind(view.state, "region").find(({ from, to }) => from <= at && at < to)
  const id = span?.id ?? null
  if (id !== view.state.field(pointedField)) view.dispatch({ effects: pointAt.of(id) })
}

export function handleSupport(): Extension {
  return [pointedField, draggedField, handleLayer, EditorView.domEventHandlers({ mouseover: notePointer })]
}
