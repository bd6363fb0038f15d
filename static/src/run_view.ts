/**
 * Draws runs into the text: which regions are at work, and the newest pass over each.
 *
 * Owns how often passes are drawn and whether the view is paused. The run goes on either way.
 */

import type { EditorView } from "@codemirror/view"
import { draftOf, dropDrafts, setBusyRegions, showDrafts } from "./drafts"
import { draftWords, prefersCalm, updateRate } from "./preferences"
import type { PassFrame, RunEnded } from "./protocol.gen"
import { RunModel, type RunRecord } from "./run_model"

const SLOW_GAP_MS = 1_000

export class RunView {
  readonly runs = new RunModel()
  isPaused = false
  private drawnAt = 0

  constructor(private readonly view: EditorView) {}

  /** Returns the run, or null for a pass that came too late to draw. */
  pass(frame: PassFrame): RunRecord | null {
    const run = this.runs.addPass(frame)
    if (run !== null && !run.isBaseline && !this.isPaused && this.isDue()) this.draw(run)
    return run
  }

  pause(isPaused: boolean): void {
    this.isPaused = isPaused
    if (!isPaused) for (const run of this.runs.active()) this.draw(run)
  }

  end(frame: RunEnded): RunRecord | null {
    const run = this.runs.end(frame)
    this.showBusy()
    if (run !== null) this.drop(run.spanIds)
    if (this.runs.active().length === 0) this.isPaused = false
    return run
  }

  /** The run goes on without this region. Returns the run, or null when it is unknown. */
  yieldRegion(runId: string, spanId: string): RunRecord | null {
    const run = this.runs.dropRegion(runId, spanId)
    this.drop([spanId])
    this.showBusy()
    return run
  }

  drop(spanIds: readonly string[]): void {
    this.view.dispatch({ effects: dropDrafts.of(spanIds) })
  }

  showBusy(): void {
    this.view.dispatch({ effects: setBusyRegions.of(this.runs.busySpans()) })
  }

  private draw(run: RunRecord): void {
    const frame = run.passes.at(-1)
    if (frame === undefined) return
    const hidesOpen = draftWords() === "settled"
    const drafts = frame.regions.map((region) => ({ ...draftOf(region, run.stable.get(region.span_id) ?? ""), hidesOpen }))
    this.view.dispatch({ effects: showDrafts.of(drafts) })
  }

  private isDue(): boolean {
    const rate = updateRate()
    const gapMs = rate === "slow" || prefersCalm() ? SLOW_GAP_MS : 0
    if (rate === "done" || Date.now() - this.drawnAt < gapMs) return false
    this.drawnAt = Date.now()
    return true
  }
}
