/** The bar at the foot of the paper: the run with Stop, or what waits for review. Never moves text. */

import { button, h } from "./dom"
import { icon } from "./icons"
import { refill } from "./refill"
import { type RunRecord } from "./run_model"
import { shareSettled } from "./strip"

export interface DockHost {
  stop(): void
  togglePause(): void
  review(): void
  acceptAll(): void
}

export interface DockFacts {
  run: RunRecord | null
  isPaused: boolean
  numOpen: number
}

export class Dock {
  private readonly words = h("span", { class: "tl-dock-words" })
  private readonly meter = h("span", { class: "tl-meter", "aria-hidden": "true" }, h("i", {}))
  private readonly buttons = h("span", { class: "tl-dock-buttons" })

  constructor(
    private readonly element: HTMLElement,
    private readonly host: DockHost,
  ) {
    element.append(h("div", { class: "tl-dock-bar" }, this.meter, this.words, this.buttons))
  }

  show({ run, isPaused, numOpen }: DockFacts): void {
    const isRunning = run !== null
    this.element.classList.toggle("tl-shown", isRunning || numOpen > 0)
    this.element.classList.toggle("tl-running", isRunning)
    this.words.textContent = isRunning ? runWords(run) : numOpen === 1 ? "1 suggestion" : `${numOpen} suggestions`
    const share = isRunning ? shareSettled(run) : 0
    ;(this.meter.firstElementChild as HTMLElement).style.width = `${share}%`
    const signature = JSON.stringify([isRunning, isRunning && run.isStopping, isPaused, numOpen])
    refill(this.buttons, signature, () => (isRunning ? this.runButtons(run, isPaused) : this.reviewButtons(numOpen)))
  }

  private runButtons(run: RunRecord, isPaused: boolean): HTMLElement[] {
    return [
      button([icon(isPaused ? "play" : "pause"), isPaused ? "Resume view" : "Pause view"], () => this.host.togglePause(), {
        class: "tl-quiet",
        "data-key": "pause",
      }),
      button([icon("stop"), run.isStopping ? "Stopping…" : "Stop"], () => this.host.stop(), {
        class: "tl-quiet tl-stop",
        "data-key": "stop",
        disabled: run.isStopping,
      }),
    ]
  }

  private reviewButtons(numOpen: number): HTMLElement[] {
    if (numOpen === 0) return []
    return [
      button("Review", () => this.host.review(), { class: "tl-quiet", title: "F8", "data-key": "review" }),
      button([icon("check"), `Accept all (${numOpen})`], () => this.host.acceptAll(), {
        class: "tl-primary",
        "data-key": "dock-accept-all",
      }),
    ]
  }
}

function runWords(run: RunRecord): string {
  if (run.isStopping) return "Stopping after this pass"
  const frame = run.passes.at(-1)
  if (frame === undefined) return run.state === "queued" ? "Waiting for the engine" : "Reading the text"
  return `Pass ${frame.pass} of ${run.maxPasses} · ${shareSettled(run)} % settled`
}
