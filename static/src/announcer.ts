/**
 * The two places a screen reader listens to: one polite status line, one alert line.
 *
 * Both exist from the start. Announces starts and ends, at most one progress line per 10 s, each
 * alarm once; of two alarms the connection's is shown. Never given provisional words.
 */

import { h } from "./dom"

const PROGRESS_GAP_MS = 10_000

export class Announcer {
  readonly status = h("div", { class: "tl-status", role: "status", "aria-live": "polite" })
  readonly alert = h("div", { class: "tl-alert-text", role: "alert" })
  private readonly alarms = { link: "", run: "" }
  private lastProgressAt = 0
  private isOutcome = false

  say(text: string): void {
    this.isOutcome = false
    this.status.textContent = text
  }

  /** A line about suggestions: it holds until they are decided or the text changes. */
  sayOutcome(text: string): void {
    this.say(text)
    this.isOutcome = text !== ""
  }

  /** Says this in place of an outcome that holds no longer; any other line stays. */
  replaceOutcome(text: string): void {
    if (this.isOutcome) this.sayOutcome(text)
  }

  /** Starts the wait for the first progress line. */
  begin(text: string): void {
    this.lastProgressAt = Date.now()
    this.say(text)
  }

  progress(text: string): void {
    if (Date.now() - this.lastProgressAt < PROGRESS_GAP_MS) return
    this.lastProgressAt = Date.now()
    this.say(text)
  }

  /** Says the same thing once, however often it is repeated. Empty text ends it. */
  alarm(topic: "link" | "run", text: string): void {
    this.alarms[topic] = text
    const shown = this.alarms.link || this.alarms.run
    if (this.alert.textContent !== shown) this.alert.textContent = shown
  }
}
