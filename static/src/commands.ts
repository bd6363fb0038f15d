/** What every shortcut and button does to the editor and its session. */

import { redo, undo } from "@codemirror/commands"
import type { EditorState } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import type { Commands } from "./keys"
import { randomId } from "./outbox"
import { setPeek } from "./peek"
import { refineSettings } from "./preferences"
import {
  activateSuggestion,
  activeChange,
  activeSuggestion,
  type Change,
  chooseAlternative,
  neighbour,
  type OpenSuggestion,
} from "./review"
import { regionAfter, trimmed } from "./region_edits"
import { refineAgain } from "./rerun"
import type { ReviewActions } from "./review_marks"
import type { DocumentSession } from "./session"
import { addSpan, removeSpan, type Span, spanById, spansOf, spansTouching } from "./spans"

export interface CommandHost {
  readonly view: EditorView
  readonly session: DocumentSession | null
  readonly decisions: ReviewActions
  readonly pages: PageCommands
  say(text: string): void
  closePopups(): boolean
}

/** What opens something beside the text. */
export interface PageCommands {
  showShortcuts(): void
  nameVersion(): void
  showReplay(): void
  togglePlain(): void
  toggleOrigins(): void
  openRegionSettings(span: Span): void
}

export function buildCommands(host: CommandHost): Commands {
  const open = (name: Exclude<keyof PageCommands, "openRegionSettings">) => (): boolean => {
    host.pages[name]()
    return true
  }
  return {
    refine: () => refine(host, "chosen"),
    refineAll: () => refine(host, "all"),
    toggleLock: () => toggleLock(host),
    toggleRegion: () => toggleRegion(host),
    regionSettings: () => openRegionSettings(host),
    stop: () => stop(host),
    pauseView: () => pauseView(host),
    nextSuggestion: () => walkChanges(host, 1),
    previousSuggestion: () => walkChanges(host, -1),
    nextAlternative: () => nextAlternative(host),
    compareAlternatives: () => {
      host.decisions.compareAlternatives()
      return true
    },
    peekOriginal: () => peekOriginal(host.view),
    acceptActive: () => decideActive(host, "accept"),
    rejectActive: () => decideActive(host, "reject"),
    nextBlank: () => walkRegions(host.view, 1),
    previousBlank: () => walkRegions(host.view, -1),
    nameVersion: open("nameVersion"),
    showReplay: open("showReplay"),
    togglePlain: open("togglePlain"),
    toggleOrigins: open("toggleOrigins"),
    showShortcuts: open("showShortcuts"),
    undo: () => undo(host.view),
    redo: () => redo(host.view),
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
  if (isMarkable) toggleRegion(host)
  const busy = session.runs.busySpans()
  const targets = which === "all" ? spansOf(view.state).filter(({ kind }) => kind !== "locked") : refineTargets(view.state)
  const ids = targets.map(({ id }) => id).filter((id) => !busy.has(id))
  if (ids.length > 0) session.refine(ids, refineSettings())
  else if (targets.length === 0) host.say("Mark a region or leave a blank first.")
  else {
    host.say("The run is stopped and starts again.")
    refineAgain(session, targets.map(({ id }) => id), refineSettings())
  }
  return true
}

function toggleLock(host: CommandHost): boolean {
  const { view } = host
  const { main } = view.state.selection
  const there = spansTouching(view.state, main, "locked")
  if (there.length > 0) {
    view.dispatch({ effects: there.map((span) => removeSpan.of(span.id)), userEvent: "span" })
    host.say("Unlocked.")
    return true
  }
  const range = markable(view.state)
  if (range === null) {
    host.say("Select the words first.")
    return true
  }
  const span: Span = { id: randomId(), kind: "locked", ...range, settings: {} }
  view.dispatch({ effects: addSpan.of(span), userEvent: "span" })
  host.say("Locked.")
  return true
}

/** The selected words, or the word at the caret. */
function markable(state: EditorState): { from: number; to: number } | null {
  const { main } = state.selection
  const range = main.empty ? state.wordAt(main.head) : main
  return range === null ? null : trimmed(state, range)
}

function toggleRegion(host: CommandHost): boolean {
  const { view } = host
  const edit = regionAfter(view.state, markable(view.state), randomId)
  if (edit === null) host.say("Select the words first.")
  else {
    const effects = [...edit.removed.map((id) => removeSpan.of(id)), ...edit.added.map((span) => addSpan.of(span))]
    view.dispatch({ effects, userEvent: "span" })
    host.say(edit.words)
  }
  return true
}

function openRegionSettings(host: CommandHost): boolean {
  const span = spansTouching(host.view.state, host.view.state.selection.main, "region")[0]
  if (span === undefined) host.say("Put the caret in a region first.")
  else host.pages.openRegionSettings(span)
  return true
}

/** Until any key is let go. */
function peekOriginal(view: EditorView): boolean {
  const end = (): void => {
    document.removeEventListener("keyup", end)
    window.removeEventListener("blur", end)
    view.dispatch({ effects: setPeek.of(false) })
  }
  document.addEventListener("keyup", end)
  window.addEventListener("blur", end)
  view.dispatch({ effects: setPeek.of(true) })
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

function walkChanges(host: CommandHost, step: 1 | -1): boolean {
  const { view } = host
  const isInCard = document.activeElement?.closest(".tl-card") != null
  const active = activeChange(view.state)
  const isFirstPress = !isInCard && active?.verdict === "open"
  const target: Change | null = isFirstPress && step === 1 ? active : neighbour(view.state, step)
  if (target === null) host.say("Nothing to review.")
  else goToSuggestion(view, target.suggestion, target.group)
  return true
}

/** Brings a suggestion into view and gives its card the focus: the person asked for it. */
export function goToSuggestion(view: EditorView, suggestion: OpenSuggestion, group?: number | null): void {
  const span = spanById(view.state, suggestion.wire.span_id)
  if (span === undefined) return
  const place = group === undefined ? { id: suggestion.wire.id } : { id: suggestion.wire.id, group }
  view.dispatch({
    effects: [activateSuggestion.of(place), EditorView.scrollIntoView(span.from, { y: "center" })],
    selection: { anchor: span.to },
  })
  const card = view.dom.querySelector<HTMLElement>(".tl-card")
  card?.focus({ preventScroll: true })
  // After the editor's own scrolling, which knows the words and not the card below them.
  requestAnimationFrame(() => card?.scrollIntoView({ block: "nearest" }))
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
  host.decisions[verdict]([active.wire.id])
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
