/**
 * What a person decides about suggestions: one change, one suggestion, all of them.
 *
 * Owns the way on: after the last change of a suggestion it is accepted (or rejected, when nothing
 * was kept), and who decides by keyboard in the card finds the next one under the same keys.
 */

import type { EditorView } from "@codemirror/view"
import type { Announcer } from "./announcer"
import { goToSuggestion } from "./commands"
import { leftWords } from "./narration"
import {
  activateSuggestion,
  activeChange,
  activeSuggestion,
  changesOf,
  judgeChange,
  openSuggestions,
  placeOf,
  suggestedText,
} from "./review"
import type { ReviewActions } from "./review_marks"
import type { DocumentSession } from "./session"

export interface DecisionsHost {
  readonly view: EditorView
  readonly session: DocumentSession | null
  readonly announcer: Announcer
  compareAlternatives(suggestionId: string): void
}

export class Decisions implements ReviewActions {
  constructor(private readonly host: DecisionsHost) {}

  accept(ids: readonly string[]): void {
    const { session, announcer } = this.host
    const isInCard = this.isInCard()
    const unchanged = this.unchangedAmong(ids)
    const wanted = ids.filter((id) => !unchanged.includes(id))
    const left = session?.accept(wanted) ?? []
    if (unchanged.length > 0) session?.reject(unchanged)
    const count = wanted.length - left.length
    const numOpen = openSuggestions(this.host.view.state).length
    const words = count === 1 ? "1 suggestion accepted." : `${count} suggestions accepted.`
    const rest =
      left.length === 0 ? leftWords(numOpen) : `${left.length} could not be placed: the text has changed there.`
    announcer.sayOutcome(`${words} ${rest}`)
    this.goOn(isInCard)
  }

  reject(ids: readonly string[]): void {
    const isInCard = this.isInCard()
    this.host.session?.reject(ids)
    this.goOn(isInCard)
  }

  acceptAll(): void {
    const { state } = this.host.view
    const ids = openSuggestions(state).filter((one) => placeOf(state, one) !== null)
    this.accept(ids.map(({ wire }) => wire.id))
  }

  judge(verdict: "kept" | "left"): void {
    const { view } = this.host
    const change = activeChange(view.state)
    if (change === null) return
    const { wire } = change.suggestion
    if (change.group === null) {
      if (verdict === "kept") this.accept([wire.id])
      else this.reject([wire.id])
      return
    }
    view.dispatch({ effects: judgeChange.of({ id: wire.id, group: change.group, verdict }) })
    const changes = activeSuggestion(view.state) === null ? [] : changesOf(activeSuggestion(view.state)!)
    const at = changes.findIndex(({ group }) => group === change.group)
    const next = [...changes.slice(at + 1), ...changes.slice(0, at)].find((one) => one.verdict === "open")
    if (next !== undefined) {
      view.dispatch({ effects: activateSuggestion.of({ id: wire.id, group: next.group }) })
      const numOpen = changes.filter((one) => one.verdict === "open").length
      this.host.announcer.sayOutcome(`Change ${verdict === "kept" ? "kept" : "left out"}. ${numOpen} to decide here.`)
    } else if (changes.some((one) => one.verdict === "kept")) this.accept([wire.id])
    else this.reject([wire.id])
  }

  compareAlternatives(): void {
    const suggestion = activeSuggestion(this.host.view.state)
    if (suggestion === null) this.host.announcer.say("There is no suggestion to compare.")
    else this.host.compareAlternatives(suggestion.wire.id)
  }

  returnToText(): void {
    this.host.view.focus()
  }

  /** Accepting what leaves the text as it is would be a revision of nothing. */
  private unchangedAmong(ids: readonly string[]): string[] {
    const same = openSuggestions(this.host.view.state).filter(
      (one) => ids.includes(one.wire.id) && suggestedText(one) === one.wire.original,
    )
    return same.map(({ wire }) => wire.id)
  }

  private isInCard(): boolean {
    return document.activeElement?.closest(".tl-card") != null
  }

  private goOn(wasInCard: boolean): void {
    const { view } = this.host
    const isLost = document.activeElement === document.body || document.activeElement === null
    if (!wasInCard && !isLost) return
    const next = wasInCard ? activeSuggestion(view.state) : null
    if (next !== null) goToSuggestion(view, next)
    else if (isLost || wasInCard) view.focus()
  }
}
