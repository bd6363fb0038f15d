/**
 * The runs of one document as the browser sees them: which work, and every pass so far, in memory.
 *
 * Must not know the editor. Passes are provisional: they are kept for the strip and the panel
 * only, and go when the document is closed.
 */

import type { PassFrame, RunEnded, RunWire, SuggestionWire } from "./protocol.gen"

/** A region and the words around it, as they were when the run began. */
export interface RunPlace {
  readonly spanId: string
  readonly before: string
  readonly original: string
  readonly after: string
  /** It stands in the line of the region before it; what lies between is that one's `after`. */
  readonly isSameLine: boolean
}

export interface RunRecord {
  readonly runId: string
  spanIds: readonly string[]
  state: RunWire["state"]
  maxPasses: number
  passes: PassFrame[]
  /** When each pass came, in ms since the first sign of the run. */
  readonly arrivals: number[]
  readonly places: readonly RunPlace[]
  /** Span id to the text the run offers first; passes are droppable, this is not. */
  readonly results: Map<string, string>
  /** When the end came, in ms since the first sign of the run. */
  endedAtMs: number
  /** Run for comparison only: nothing of it is drawn into the text or offered. */
  readonly isBaseline: boolean
  /** Span id to text that will not change again in this run. */
  readonly stable: Map<string, string>
  isStopping: boolean
  /** Another run of the same regions starts as soon as this one has ended. */
  isReplaced: boolean
  ended: RunEnded | null
  readonly startedAt: number
}

const MOST_PASSES_KEPT = 600
const MOST_RUNS_KEPT = 8

export class RunModel {
  private readonly runs = new Map<string, RunRecord>()

  begin(wire: RunWire, places: readonly RunPlace[] = [], isBaseline = false): RunRecord {
    const known = this.runs.get(wire.run_id)
    if (known !== undefined) {
      known.state = wire.state
      return known
    }
    const run: RunRecord = {
      runId: wire.run_id,
      spanIds: wire.span_ids,
      state: wire.state,
      maxPasses: wire.max_passes,
      passes: [],
      arrivals: [],
      places,
      results: new Map(),
      endedAtMs: 0,
      isBaseline,
      stable: new Map(),
      isStopping: false,
      isReplaced: false,
      ended: null,
      startedAt: performance.now(),
    }
    this.runs.set(wire.run_id, run)
    for (const [id, old] of this.runs) {
      if (this.runs.size <= MOST_RUNS_KEPT) break
      if (!isActive(old)) this.runs.delete(id)
    }
    return run
  }

  /** Returns null for a pass of a run that is over or unknown: late frames draw nothing. */
  addPass(frame: PassFrame): RunRecord | null {
    const run = this.runs.get(frame.run_id)
    if (run === undefined || !isActive(run)) return null
    run.state = "running"
    run.maxPasses = frame.max_passes
    run.passes.push(frame)
    run.arrivals.push(performance.now() - run.startedAt)
    if (run.passes.length > MOST_PASSES_KEPT) for (const list of [run.passes, run.arrivals]) list.splice(1, 1)
    return run
  }

  dropRegion(runId: string, spanId: string): RunRecord | null {
    const run = this.runs.get(runId)
    if (run === undefined) return null
    run.spanIds = run.spanIds.filter((id) => id !== spanId)
    return run
  }

  /** Keeps what a run offers first. Returns the run, or undefined when it is unknown. */
  noteResult({ run_id: runId, span_id: spanId, alternatives: [best] }: SuggestionWire): RunRecord | undefined {
    const run = this.runs.get(runId)
    if (best !== undefined) run?.results.set(spanId, best.text)
    return run
  }

  end(frame: RunEnded): RunRecord | null {
    const run = this.runs.get(frame.run_id)
    if (run === undefined) return null
    run.state = frame.state
    run.ended = frame
    run.endedAtMs = performance.now() - run.startedAt
    return run
  }

  /** After a reconnect: runs that the server no longer has at work are over. */
  keepOnly(wires: readonly RunWire[]): void {
    const alive = new Map(wires.map((wire) => [wire.run_id, wire]))
    for (const run of this.runs.values()) {
      const wire = alive.get(run.runId)
      if (isActive(run)) run.state = wire?.state ?? "failed"
    }
    for (const wire of wires) this.begin(wire)
  }

  find(runId: string): RunRecord | undefined {
    return this.runs.get(runId)
  }

  /** Runs at work for the text; one for comparison is none of them. */
  active(): RunRecord[] {
    return this.shown().filter(isActive)
  }

  /** The newest run, at work or not. */
  latest(): RunRecord | null {
    return this.active().at(-1) ?? this.shown().at(-1) ?? null
  }

  /** The newest run for comparison. */
  baseline(): RunRecord | null {
    return [...this.runs.values()].findLast((run) => run.isBaseline) ?? null
  }

  busySpans(): Set<string> {
    return new Set([...this.runs.values()].filter(isActive).flatMap((run) => [...run.spanIds]))
  }

  private shown(): RunRecord[] {
    return [...this.runs.values()].filter((run) => !run.isBaseline)
  }
}

export function isActive(run: RunRecord): boolean {
  return run.state === "queued" || run.state === "running"
}

/** How many passes a run made; one that failed does not report them. */
export function numPasses(run: RunRecord): number {
  return run.ended?.passes || (run.passes.at(-1)?.pass ?? 0)
}

/** "after 9 passes", for the end of a run. */
export function afterPasses(run: RunRecord): string {
  const count = numPasses(run)
  if (count === 0) return "before its first pass"
  return count === 1 ? "after 1 pass" : `after ${count} passes`
}
