/**
 * Every suggestion of one document as the server tells of them, and what of it the text shows.
 *
 * Owns what is hidden: suggestions decided here that the server has not answered yet, and those of
 * runs made for comparison only. Must not know the socket.
 */

import type { EditorView } from "@codemirror/view"
import type { SuggestionDecided, SuggestionWire } from "./protocol.gen"
import { openSuggestions, receiveSuggestions } from "./review"

export class SuggestionBook {
  private readonly byId = new Map<string, SuggestionWire>()
  private readonly awaited = new Set<string>()

  constructor(private readonly view: EditorView) {}

  /** Starts anew from what a welcome holds. */
  begin(wires: readonly SuggestionWire[]): void {
    this.byId.clear()
    this.awaited.clear()
    for (const wire of wires) this.byId.set(wire.id, wire)
    this.show()
  }

  add(wire: SuggestionWire): void {
    this.byId.set(wire.id, wire)
    this.show()
  }

  /** Takes the server's verdict; returns whether the suggestion was still to be seen. */
  decide({ suggestion_id: id, state }: SuggestionDecided): boolean {
    const known = this.byId.get(id)
    const wasShown = openSuggestions(this.view.state).some(({ ids }) => ids.includes(id))
    if (known !== undefined) this.byId.set(id, { ...known, state })
    this.awaited.delete(id)
    this.show()
    return wasShown
  }

  /** Hides what was decided here until the server has answered. */
  hide(ids: readonly string[]): void {
    for (const id of ids) this.awaited.add(id)
    this.show()
  }

  /** The server refused: what was hidden for it is shown again. */
  unhide(ids: readonly string[]): void {
    for (const id of ids) this.awaited.delete(id)
    this.show()
  }

  private show(): void {
    const open = [...this.byId.values()].filter((one) => one.state === "open" && !this.awaited.has(one.id))
    this.view.dispatch({ effects: receiveSuggestions.of(open) })
  }
}
