/** What every shortcut and button does to the editor and its session. */

import { redo, undo } from "@codemirror/commands"
import type { EditorState } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import { showShortcuts } from "./dialogs"
import type { Commands } from "./editor"
import { randomId } from "./outbox"
import { refineSettings } from "./preferences"
import {
  activateSuggestion,
  activeSuggestion,
  chooseAlternative,
  neighbour,
  type OpenSuggestion,
  openSuggestions,
  reviewField,
} from "./review"
import type { DocumentSession } from "./session"
import { addSpan, removeSpan, type Span, spanById, spansOf, spansTouching } from "./spans"

export interface CommandHost {
  readonly view: EditorView
  readonly session: DocumentSession | null
  say(text: string): void
  closePopups(): boolean
  showReview(): void
}

export function buildCommands(host: CommandHost): Commands {
  return {
    refine: () => refine(host, "chosen"),
    refineAll: () => refine(host, "all"),
    toggleLock: () => toggle(host, "locked"),
    toggleRegion: () => toggle(host, "region"),
    stop: () => stop(host),
    pauseView: () => pauseView(host),
    nextSuggestion: () => walkSuggestions(host, 1),
    previousSuggestion: () => walkSuggestions(host, -1),
    nextAlternative: () => nextAlternative(host),
    acceptActive: () => decideActive(host, "accept"),
    rejectActive: () => decideActive(host, "reject"),
    nextBlank: () => walkRegions(host.view, 1),
    previousBlank: () => walkRegions(host.view, -1),
    saveNow: () => {
      host.session?.flush()
      host.say("Your text is saved as you write.")
      return true
    },
    undo: () => undo(host.view),
    redo: () => redo(host.view),
    showShortcuts: () => {
      showShortcuts()
      return true
    },
  }
}

/** The spans a press on Refine works on: those at the selection, else all. */
export function refineTargets(state: EditorState): readonly Span[] {
  const range = state.selection.main
  const at = [...spansTouching(state, range, "region"), ...spansTouching(state, range, "field")]
  return at.length > 0 ? at : spansOf(state).filter((span) => span.kind !== "locked")
}

function refine(host: CommandHost, which: "chosen" | "all"): boolean {
  const { view, session } = host
  if (session === null) return true
  const { main } = view.state.selection
  const isMarkable = which === "chosen" && !main.empty && spansTouching(view.state, main, "region").length === 0
  // Selected words and one key: they become a region and are refined.
  if (isMarkable) toggle(host, "region")
  const busy = session.runs.busySpans()
  const targets = which === "all" ? spansOf(view.state).filter(({ kind }) => kind !== "locked") : refineTargets(view.state)
  const ids = targets.map(({ id }) => id).filter((id) => !busy.has(id))
  if (ids.length === 0) {
    host.say(targets.length > 0 ? "A run already works there." : "Mark a region or leave a blank first.")
    return true
  }
  session.refine(ids, refineSettings())
  return true
}

/** Trims a selection to what can be marked: no white space at its ends. */
function trimmed(state: EditorState, range: { from: number; to: number }): { from: number; to: number } | null {
  const text = state.sliceDoc(range.from, range.to)
  const from = range.from + (text.length - text.trimStart().length)
  const to = range.to - (text.length - text.trimEnd().length)
  return from < to ? { from, to } : null
}

function toggle(host: CommandHost, kind: "locked" | "region"): boolean {
  const { view } = host
  const { main } = view.state.selection
  const there = spansTouching(view.state, main, kind)
  const noun = kind === "locked" ? "Locked" : "Marked as a region"
  if (there.length > 0) {
    view.dispatch({ effects: there.map((span) => removeSpan.of(span.id)), userEvent: "span" })
    host.say(kind === "locked" ? "Unlocked." : "No longer a region.")
    return true
  }
  const word = main.empty ? view.state.wordAt(main.head) : main
  const range = word === null ? null : trimmed(view.state, word)
  if (range === null) {
    host.say("Select the words first.")
    return true
  }
  view.dispatch({ effects: addSpan.of({ id: randomId(), kind, ...range, settings: {} }), userEvent: "span" })
  host.say(`${noun}.`)
  return true
}

function stop(host: CommandHost): boolean {
  if (host.closePopups()) return true
  const { session } = host
  if (session === null || session.runs.active().length === 0) return false
  session.stop()
  return true
}

function pauseView(host: CommandHost): boolean {
  const { session } = host
  if (session === null || session.runs.active().length === 0) return false
  session.setPaused(!session.runView.isPaused)
  host.say(session.runView.isPaused ? "View paused. The run goes on." : "View resumed.")
  return true
}

function walkSuggestions(host: CommandHost, step: 1 | -1): boolean {
  const { view } = host
  const isInCard = document.activeElement?.closest(".tl-card") !== null && document.activeElement !== document.body
  const { activeId } = view.state.field(reviewField)
  const isFirstPress = !isInCard && openSuggestions(view.state).some(({ wire }) => wire.id === activeId)
  const target = isFirstPress && step === 1 ? activeSuggestion(view.state) : neighbour(view.state, step)
  if (target === null) {
    host.say("Nothing to review.")
    return true
  }
  goToSuggestion(view, target)
  return true
}

/** Brings a suggestion into view and gives its card the focus: the person asked for it. */
export function goToSuggestion(view: EditorView, suggestion: OpenSuggestion): void {
  const span = spanById(view.state, suggestion.wire.span_id)
  if (span === undefined) return
  view.dispatch({
    effects: [activateSuggestion.of(suggestion.wire.id), EditorView.scrollIntoView(span.from, { y: "center" })],
    selection: { anchor: span.to },
  })
  view.dom.querySelector<HTMLElement>(".tl-card")?.focus({ preventScroll: true })
}

function nextAlternative({ view }: CommandHost): boolean {
  const active = activeSuggestion(view.state)
  if (active === null) return false
  view.dispatch({ effects: chooseAlternative.of({ id: active.wire.id, index: active.chosen + 1 }) })
  return true
}

function decideActive(host: CommandHost, verdict: "accept" | "reject"): boolean {
  const active = activeSuggestion(host.view.state)
  if (active === null || host.session === null) return false
  host.session[verdict]([active.wire.id])
  return true
}

function walkRegions(view: EditorView, step: 1 | -1): boolean {
  const spans = spansOf(view.state).filter(({ kind }) => kind !== "locked")
  if (spans.length === 0) return false
  const { from, to } = view.state.selection.main
  const next =
    step === 1
      ? (spans.find((span) => span.from > from || (span.from === from && to < span.to)) ?? spans[0])
      : (spans.findLast((span) => span.from < from) ?? spans.at(-1))
  if (next !== undefined) view.dispatch({ selection: { anchor: next.from, head: next.to }, scrollIntoView: true })
  view.focus()
  return true
}
