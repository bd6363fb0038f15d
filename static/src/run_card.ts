/**
 * A finished run's card: everything needed to run it again, as a person reads it and as JSON.
 *
 * What the server tells is shown as it is; no words of the text are among it.
 */

import { button, h, replaceChildren } from "./dom"
import { icon } from "./icons"
import { readRun, type RunReport } from "./rest"
import { STOP_WORDS } from "./run_panel"

type Row = readonly [name: string, value: string]

const NUMBER = new Intl.NumberFormat(undefined, { maximumFractionDigits: 3 })
const SHOWN_HASH = 12

const TIMINGS: Record<string, string> = {
  queue_ms: "Waited",
  load_ms: "Model loaded",
  encode_ms: "Text encoded",
  first_stable_ms: "First word final",
  complete_ms: "Complete",
}

/** Fills an element with the run's card; `say` tells what became of copying. */
export async function showRunCard(element: HTMLElement, runId: string, say: (text: string) => void): Promise<void> {
  replaceChildren(element, h("p", { class: "tl-empty" }, "Reading…"))
  const run = await readRun(runId).catch(() => null)
  if (run === null) return replaceChildren(element, h("p", { class: "tl-empty" }, "The card cannot be read now."))
  const copy = button([icon("columns"), "Copy as JSON"], () => void copyText(asJson(run), element).then(say), {
    class: "tl-quiet",
    "data-key": "copy-card",
  })
  replaceChildren(element, ...sectionsOf(run).flatMap(([title, rows]) => section(title, rows)), copy)
}

function section(title: string, rows: readonly Row[]): HTMLElement[] {
  if (rows.length === 0) return []
  const parts = rows.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)])
  return [h("h3", {}, title), h("dl", { class: "tl-facts" }, ...parts)]
}

function sectionsOf(run: RunReport): [string, Row[]][] {
  const card = run.run_card ?? {}
  const timings = Object.entries(run.telemetry.timings ?? {})
  return [
    ["Outcome", rowsOf([
      ["State", run.state],
      ["Stop reason", run.stop_reason === null ? null : (STOP_WORDS[run.stop_reason] ?? run.stop_reason)],
      ["Passes", `${run.passes} of ${run.max_passes}`],
      ["Tokens per pass", run.telemetry.tokens_per_pass],
      ["Seed", card["seed"]],
      ["Result", shortHash(card["result_sha256"])],
    ])],
    ["Model", rowsOf([
      ["Model", card["model"]],
      ["Adapter", card["adapter"]],
      ["Route", card["route"]],
      ["Precision", card["precision"]],
      ["Device", card["device"]],
      ["Threads", card["num_threads"]],
    ])],
    ["Sampler", rowsOf(flattened(card["sampler"]))],
    ["Time", rowsOf(timings.map(([key, ms]) => [TIMINGS[key] ?? key, `${NUMBER.format(Math.round(ms))} ms`]))],
  ]
}

function rowsOf(rows: readonly (readonly [string, unknown])[]): Row[] {
  return rows.flatMap(([name, value]): Row[] => {
    if (typeof value === "number") return [[name, NUMBER.format(value)]]
    return typeof value === "string" && value !== "" ? [[name, value]] : []
  })
}

/** Names and numbers of nested settings, one row each: "ranking right tokens". Lists are in the JSON. */
function flattened(value: unknown, path = ""): [string, unknown][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[path, value]]
  return Object.entries(value).flatMap(([key, inner]) => flattened(inner, `${path} ${key.replaceAll("_", " ")}`.trim()))
}

const shortHash = (value: unknown): string | null => (typeof value === "string" ? value.slice(0, SHOWN_HASH) : null)

/** The card and the counts, without the words the run offers. */
function asJson(run: RunReport): string {
  return JSON.stringify({ ...run, suggestions: undefined }, null, 2)
}

/** The clipboard is closed to pages that came over plain HTTP from elsewhere: there the text is selected. */
async function copyText(text: string, element: HTMLElement): Promise<string> {
  try {
    await navigator.clipboard.writeText(text)
    return "Run card copied."
  } catch {
    const area = h("textarea", { class: "tl-unsent", readonly: true, "aria-label": "Run card as JSON", rows: 8 })
    area.value = text
    element.append(area)
    area.select()
    return "The browser keeps its clipboard closed. The run card is selected: copy it."
  }
}
