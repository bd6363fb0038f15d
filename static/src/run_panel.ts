/** The "Refine" panel: how the run goes, the regions with their own settings, and options. */

import type { EditorState } from "@codemirror/state"
import { button, h } from "./dom"
import { setUpdateRate, type UpdateRate, updateRate } from "./preferences"
import { refill } from "./refill"
import { afterPasses, isActive, numPasses, type RunRecord } from "./run_model"
import type { DocumentSession } from "./session"
import { type Span, spansOf } from "./spans"
import { narrowOptionsButton } from "./toolbar"
import { ConvergenceStrip, shareSettled } from "./strip"

const MOST_ROWS = 60

export interface RunPanelHost {
  goTo(span: Span): void
  setSpan(span: Span): void
  removeSpan(id: string): void
}

export class RunPanel {
  readonly element = h("section", { class: "tl-panel", "aria-label": "Refine" })
  private readonly strip = new ConvergenceStrip()
  private readonly facts = h("dl", { class: "tl-facts" })
  private readonly words = h("p", { class: "tl-run-words" })
  private readonly regions = h("div", { class: "tl-regions" })

  constructor(private readonly host: RunPanelHost) {
    this.element.append(
      h("h2", {}, "Run"),
      this.words,
      this.strip.element,
      this.facts,
      rateChoice(),
      narrowOptionsButton(),
      h("h2", {}, "Regions"),
      this.regions,
    )
  }

  show(session: DocumentSession, state: EditorState): void {
    const run = session.runs.latest()
    this.words.textContent = wordsOf(run, session.worker)
    this.strip.show(run)
    const figures = figuresOf(run)
    refill(this.facts, JSON.stringify(figures), () =>
      figures.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
    )
    this.showRegions(session, state)
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
    const set = (key: string, value: number | null): void => {
      const settings = Object.fromEntries(Object.entries(span.settings).filter(([other]) => other !== key))
      this.host.setSpan({ ...span, settings: value === null ? settings : { ...settings, [key]: value } })
    }
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
      isBlank ? null : strengthChoice(span, (value) => set("strength", value)),
      lengthChoice(span, (value) => set("length", value)),
      h(
        "div",
        { class: "tl-row" },
        button("Show", () => this.host.goTo(span), { class: "tl-quiet", "data-key": `show-${span.id}` }),
        button("Remove region", () => this.host.removeSpan(span.id), { class: "tl-quiet", "data-key": `remove-${span.id}` }),
      ),
    )
  }
}

function strengthChoice(span: Span, set: (value: number | null) => void): HTMLElement {
  const strength = span.settings["strength"]
  const input = h("input", { type: "range", min: 0, max: 1, step: 0.1, "data-key": `strength-${span.id}` })
  input.value = String(typeof strength === "number" ? strength : 1)
  const shown = h("output", {}, percent(input.valueAsNumber))
  input.addEventListener("input", () => (shown.textContent = percent(input.valueAsNumber)))
  input.addEventListener("change", () => set(input.valueAsNumber))
  return h("label", { class: "tl-setting" }, h("span", {}, "Rewrite ", shown), input)
}

const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`

function lengthChoice(span: Span, set: (value: number | null) => void): HTMLElement {
  const length = span.settings["length"]
  const input = h("input", { type: "number", min: 1, max: 256, placeholder: "auto", "data-key": `length-${span.id}` })
  input.value = typeof length === "number" ? String(length) : ""
  input.addEventListener("change", () => {
    if (input.validity.valid) set(input.value === "" ? null : input.valueAsNumber)
  })
  return h("label", { class: "tl-setting" }, h("span", {}, "Length, in word pieces"), input)
}

const RATES: readonly { rate: UpdateRate; words: string }[] = [
  { rate: "live", words: "Every pass" },
  { rate: "slow", words: "Once a second" },
  { rate: "done", words: "Only when done" },
]

function rateChoice(): HTMLElement {
  const select = h(
    "select",
    { "data-key": "rate" },
    ...RATES.map(({ rate, words }) => h("option", { value: rate, selected: rate === updateRate() }, words)),
  )
  select.addEventListener("change", () => setUpdateRate(select.value as UpdateRate))
  return h("label", { class: "tl-setting" }, h("span", {}, "Show in the text"), select)
}

function excerpt(state: EditorState, span: Span): string {
  const text = state.sliceDoc(span.from, Math.min(span.to, span.from + 60)).replace(/\s+/g, " ")
  return span.to > span.from + 60 ? `${text}…` : text
}

const STOP_WORDS: Record<string, string> = {
  settled: "everything settled",
  early_answer: "the rest was certain",
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
  if (run.state === "cancelled") return `Stopped${run.ended?.message ? "" : " by you"} ${afterPasses(run)}.`
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
    if (run.ended.total_ms > 0) figures.splice(1, 0, ["Time", `${NUMBER.format(run.ended.total_ms / 1000)} s`])
  }
  return figures
}
