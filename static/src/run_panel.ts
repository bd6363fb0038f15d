/** The "Refine" panel: how the run goes, the regions with their own settings, and options. */

import type { EditorState } from "@codemirror/state"
import { button, h } from "./dom"
import { icon } from "./icons"
import { type DraftWords, draftWords, setDraftWords, setUpdateRate, type UpdateRate, updateRate } from "./preferences"
import { hint } from "./keys"
import { refill } from "./refill"
import { regionSettings } from "./region_settings"
import { afterPasses, isActive, numPasses, type RunRecord } from "./run_model"
import type { DocumentSession } from "./session"
import { type Span, spansOf } from "./spans"
import { narrowOptionsButton } from "./toolbar"
import { ConvergenceStrip, shareSettled } from "./strip"

const MOST_ROWS = 60

export interface RunPanelHost {
  goTo(span: Span): void
  changeSettings(id: string, change: (settings: Span["settings"]) => Record<string, unknown>): void
  showReplay(): void
  showRunCard(element: HTMLElement, runId: string): void
  removeSpan(id: string): void
}

export class RunPanel {
  readonly element = h("section", { class: "tl-panel", "aria-label": "Refine" })
  private readonly strip = new ConvergenceStrip()
  private readonly facts = h("dl", { class: "tl-facts" })
  private readonly words = h("p", { class: "tl-run-words" })
  private readonly replay: HTMLButtonElement
  private readonly regions = h("div", { class: "tl-regions" })
  private readonly cardText = h("div", {})
  private readonly card = h("details", { class: "tl-run-card", hidden: true }, h("summary", {}, "Run card"), this.cardText)
  private cardOf = ""

  constructor(private readonly host: RunPanelHost) {
    this.replay = button([icon("play"), "Replay"], () => host.showReplay(), { class: "tl-quiet tl-replay-button", title: hint("showReplay") })
    this.card.addEventListener("toggle", () => this.fillCard())
    this.element.append(
      h("h2", {}, "Run"),
      this.words,
      this.strip.element,
      this.facts,
      this.replay,
      this.card,
      choice("Show in the text", RATES, updateRate(), setUpdateRate),
      choice("While it works", WORDS, draftWords(), setDraftWords),
      narrowOptionsButton(),
      h("h2", {}, "Regions"),
      this.regions,
    )
  }

  /** `lastRun` is the document's last run known to this device, for when the page holds none. */
  show(session: DocumentSession, state: EditorState, lastRun: string | null): void {
    const run = session.runs.latest()
    this.showCard(run === null ? lastRun : isActive(run) ? null : run.runId)
    this.words.textContent = wordsOf(run, session.worker)
    this.strip.show(run)
    this.replay.hidden = run === null || isActive(run) || run.passes.length === 0
    const figures = figuresOf(run)
    refill(this.facts, JSON.stringify(figures), () =>
      figures.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    )
    this.showRegions(session, state)
  }

  private showCard(runId: string | null): void {
    this.card.hidden = runId === null
    if (runId === null || runId === this.cardOf) return
    this.cardOf = runId
    this.cardText.replaceChildren()
    this.fillCard()
  }

  /** Read when it is wanted: the page holds no run after it was loaded again. */
  private fillCard(): void {
    if (this.card.open && this.cardText.childElementCount === 0) this.host.showRunCard(this.cardText, this.cardOf)
  }

  private showRegions(session: DocumentSession, state: EditorState): void {
    const busy = session.runs.busySpans()
    const all = spansOf(state).filter((span) => span.kind !== "locked")
    const spans = all.slice(0, MOST_ROWS)
    const rows = spans.map((span) => ({ span, text: excerpt(state, span), isBusy: busy.has(span.id) }))
    const numMore = all.length - spans.length
    const signature = numMore + JSON.stringify(rows.map(({ span, text, isBusy }) => [span.id, text, span.settings, isBusy]))
    refill(this.regions, signature, () =>
      rows.length === 0
        ? [h("p", { class: "tl-empty" }, "Select words and press Region, or leave a blank such as [___].")]
        : [
            ...rows.map(({ span, text, isBusy }) => this.regionRow(span, text, isBusy)),
            ...(numMore > 0 ? [h("p", { class: "tl-empty" }, `and ${numMore} more. F2 walks them.`)] : []),
          ],
    )
  }

  private regionRow(span: Span, text: string, isBusy: boolean): HTMLElement {
    const isBlank = span.settings["blank"] === true
    const name = typeof span.settings["name"] === "string" ? span.settings["name"] : text
    return h(
      "details",
      { class: "tl-region-row" },
      h(
        "summary",
        { "data-key": `summary-${span.id}` },
        h("span", { class: "tl-kind" }, isBlank ? "blank" : span.kind),
        h("span", { class: "tl-excerpt" }, name),
        isBusy && h("span", { class: "tl-chip" }, "refining"),
      ),
      ...regionSettings(span, (change) => this.host.changeSettings(span.id, change)),
      h(
        "div",
        { class: "tl-row" },
        button("Show", () => this.host.goTo(span), { class: "tl-quiet", "data-key": `show-${span.id}` }),
        button("Remove region", () => this.host.removeSpan(span.id), { class: "tl-quiet", "data-key": `remove-${span.id}` }),
      ),
    )
  }
}

const RATES: readonly { value: UpdateRate; words: string }[] = [
  { value: "live", words: "Every pass" },
  { value: "slow", words: "Once a second" },
  { value: "done", words: "Only when done" },
]

const WORDS: readonly { value: DraftWords; words: string }[] = [
  { value: "all", words: "Open words too" },
  { value: "settled", words: "Settled words only" },
]

interface Option<T> {
  readonly value: T
  readonly words: string
}

function choice<T extends string>(label: string, options: readonly Option<T>[], now: T, set: (value: T) => void): HTMLElement {
  const select = h(
    "select",
    {},
    ...options.map(({ value, words }) => h("option", { value, selected: value === now }, words)),
  )
  select.addEventListener("change", () => set(select.value as T))
  return h("label", { class: "tl-setting" }, h("span", {}, label), select)
}

function excerpt(state: EditorState, span: Span): string {
  const text = state.sliceDoc(span.from, Math.min(span.to, span.from + 60)).replace(/\s+/g, " ")
  return span.to > span.from + 60 ? `${text}…` : text
}

export const STOP_WORDS: Record<string, string> = {
  settled: "everything settled",
  early_answer: "the rest was certain",
  structure: "what is shown was whole",
  pass_budget: "all passes used",
  time_budget: "time used up",
  deadline: "deadline reached",
}

function wordsOf(run: RunRecord | null, worker: string): string {
  if (run === null) {
    if (worker === "loading") return "The engine is loading its model."
    if (worker === "down") return "The engine is starting."
    return "No run yet. Refine rewrites regions and fills blanks."
  }
  if (isActive(run)) {
    if (run.isStopping) return "Stopping after this pass."
    if (run.passes.length === 0) return run.state === "queued" ? "Waiting for the engine." : "Reading the text."
    return `Pass ${run.passes.at(-1)?.pass ?? 0} of ${run.maxPasses}, ${shareSettled(run)} % settled.`
  }
  if (run.state === "failed") return `Failed ${afterPasses(run)}.`
  // A run that ended for another reason brings it as its message.
  if (run.state === "cancelled") {
    const offer = run.results.size > 0 ? " The draft so far is offered." : ""
    return `Stopped${run.ended?.message ? "" : " by you"} ${afterPasses(run)}.${offer}`
  }
  const reason = run.ended === null ? "" : (STOP_WORDS[run.ended.stop_reason] ?? run.ended.stop_reason)
  return reason === "" ? "Finished." : `Finished: ${reason}.`
}

const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 })

function figuresOf(run: RunRecord | null): [string, string][] {
  const frame = run?.passes.at(-1)
  if (run === null || frame === undefined) return []
  const figures: [string, string][] = [
    ["Committed, last pass", String(frame.committed)],
    ["Changed, last pass", String(frame.changed)],
    ["Mean confidence", `${Math.round(frame.mean_confidence * 100)} %`],
  ]
  if (run.ended !== null) {
    figures.unshift(["Passes", String(numPasses(run))])
    // A run that failed has no time of its own.
    if (run.state !== "failed" && run.ended.total_ms > 0) figures.splice(1, 0, ["Time", `${NUMBER.format(run.ended.total_ms / 1000)} s`])
  }
  return figures
}
