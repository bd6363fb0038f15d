/**
 * The settings of one region: how much to rewrite, how long, what it must and must not say.
 *
 * Builds controls over a region's settings; what they say is checked by the server again. The same
 * controls stand in the panel's list and in the popover at the region itself.
 */

import type { EditorView } from "@codemirror/view"
import { h } from "./dom"
import { addSpan, type Span, spanById } from "./spans"

/** Takes the settings as they are now and gives back those wanted. */
export type Change = (change: (settings: Span["settings"]) => Record<string, unknown>) => void

/** Changes a region's settings, wherever it has moved to meanwhile. */
export function changeSettings(
  view: EditorView,
  id: string,
  change: (settings: Span["settings"]) => Record<string, unknown>,
): void {
  const span = spanById(view.state, id)
  if (span !== undefined) view.dispatch({ effects: addSpan.of({ ...span, settings: change(span.settings) }) })
}

interface Constraint {
  readonly kind: string
  readonly values?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
}

const FORMS: readonly { value: string; words: string; constraint: Constraint | null }[] = [
  { value: "", words: "Any", constraint: null },
  { value: "number", words: "A number", constraint: { kind: "number" } },
  { value: "date", words: "A date", constraint: { kind: "date" } },
  { value: "casing-lower", words: "Lower case", constraint: { kind: "casing", values: ["lower"] } },
  { value: "casing-sentence", words: "Capital first", constraint: { kind: "casing", values: ["sentence"] } },
  { value: "casing-upper", words: "Capitals", constraint: { kind: "casing", values: ["upper"] } },
]
const FORM_KINDS = ["number", "date", "casing"]

export function regionSettings({ id, settings }: Span, change: Change): HTMLElement[] {
  const set = (key: string, value: unknown): void =>
    change((now) => {
      const others = Object.fromEntries(Object.entries(now).filter(([other]) => other !== key))
      return value === null || value === "" ? others : { ...others, [key]: value }
    })
  const constrain = (kinds: readonly string[], wanted: Constraint | null): void =>
    change((now) => {
      const others = constraintsOf(now).filter(({ kind }) => !kinds.includes(kind))
      const all = wanted === null ? others : [...others, wanted]
      const rest = Object.fromEntries(Object.entries(now).filter(([key]) => key !== "constraints"))
      return all.length === 0 ? rest : { ...rest, constraints: all }
    })
  return [
    settings["blank"] === true ? null : strengthField(id, settings, (value) => set("strength", value)),
    numberField({ words: "Length, in word pieces", key: `length-${id}`, most: 256 }, settings["length"], (value) => set("length", value)),
    formField(id, settings, constrain),
    phrasesField({ words: "Must say", kind: "must_contain", id }, settings, constrain),
    phrasesField({ words: "Must not say", kind: "must_not_contain", id }, settings, constrain),
    wordsField(id, settings, constrain),
    settings["blank"] === true ? null : markupField(id, settings, (isKept) => set("lock_markup", isKept ? null : false)),
  ].filter((element) => element !== null)
}

type Constrain = (kinds: readonly string[], wanted: Constraint | null) => void

function constraintsOf(settings: Span["settings"]): Constraint[] {
  const value = settings["constraints"]
  return Array.isArray(value) ? (value as Constraint[]) : []
}

function findConstraint(settings: Span["settings"], kinds: readonly string[]): Constraint | undefined {
  return constraintsOf(settings).find(({ kind }) => kinds.includes(kind))
}

function strengthField(id: string, settings: Span["settings"], set: (value: number) => void): HTMLElement {
  const input = h("input", { type: "range", min: 0, max: 1, step: 0.1, "data-key": `strength-${id}` })
  const strength = settings["strength"]
  input.value = String(typeof strength === "number" ? strength : 1)
  const shown = h("b", {}, percent(input.valueAsNumber))
  input.addEventListener("input", () => (shown.textContent = percent(input.valueAsNumber)))
  input.addEventListener("change", () => set(input.valueAsNumber))
  return h("label", { class: "tl-setting" }, h("span", {}, "Rewrite ", shown), input)
}

const percent = (ratio: number): string => `${Math.round(ratio * 100)} %`

function numberField(
  { words, key, most }: { words: string; key: string; most: number },
  value: unknown,
  set: (value: number | null) => void,
): HTMLElement {
  const input = h("input", { type: "number", min: 1, max: most, placeholder: "auto", "data-key": key })
  input.value = typeof value === "number" ? String(value) : ""
  input.addEventListener("change", () => {
    if (input.validity.valid) set(input.value === "" ? null : input.valueAsNumber)
  })
  return h("label", { class: "tl-setting" }, h("span", {}, words), input)
}

/** Links, images and code inside a region are kept unless a person says otherwise. */
function markupField(id: string, settings: Span["settings"], set: (isKept: boolean) => void): HTMLElement {
  const input = h("input", { type: "checkbox", "data-key": `markup-${id}`, checked: settings["lock_markup"] !== false })
  input.addEventListener("change", () => set(input.checked))
  return h("label", { class: "tl-setting" }, h("span", {}, "Keep links, images and code"), input)
}

function formField(id: string, settings: Span["settings"], constrain: Constrain): HTMLElement {
  const now = findConstraint(settings, FORM_KINDS)
  const value = now === undefined ? "" : [now.kind, ...(now.values ?? [])].join("-")
  const select = h(
    "select",
    { "data-key": `form-${id}` },
    ...FORMS.map((form) => h("option", { value: form.value, selected: form.value === value }, form.words)),
  )
  select.addEventListener("change", () =>
    constrain(FORM_KINDS, FORMS.find((form) => form.value === select.value)?.constraint ?? null),
  )
  return h("label", { class: "tl-setting" }, h("span", {}, "Form"), select)
}

function phrasesField(
  { words, kind, id }: { words: string; kind: string; id: string },
  settings: Span["settings"],
  constrain: Constrain,
): HTMLElement {
  const input = h("input", { type: "text", placeholder: "words, or more words", maxlength: 200, "data-key": `${kind}-${id}` })
  input.value = (findConstraint(settings, [kind])?.values ?? []).join(", ")
  input.addEventListener("change", () => {
    const values = input.value.split(",").map((one) => one.trim()).filter((one) => one !== "")
    constrain([kind], values.length === 0 ? null : { kind, values })
  })
  return h("label", { class: "tl-setting" }, h("span", {}, words), input)
}

function wordsField(id: string, settings: Span["settings"], constrain: Constrain): HTMLElement {
  const now = findConstraint(settings, ["length"])
  const bound = (name: "minimum" | "maximum"): HTMLInputElement => {
    const words = name === "minimum" ? "Fewest words" : "Most words"
    const input = h("input", { type: "number", min: 0, max: 200, placeholder: "any", "aria-label": words, "data-key": `${name}-${id}` })
    input.value = typeof now?.[name] === "number" ? String(now[name]) : ""
    return input
  }
  const [low, high] = [bound("minimum"), bound("maximum")]
  const save = (): void => {
    const isWrong = low.value !== "" && high.value !== "" && low.valueAsNumber > high.valueAsNumber
    high.setCustomValidity(isWrong ? "At least as many as the fewest." : "")
    if (!low.validity.valid || !high.validity.valid) return void high.reportValidity()
    const bounds = {
      ...(low.value === "" ? {} : { minimum: low.valueAsNumber }),
      ...(high.value === "" ? {} : { maximum: high.valueAsNumber }),
    }
    constrain(["length"], Object.keys(bounds).length === 0 ? null : { kind: "length", ...bounds })
  }
  for (const input of [low, high]) input.addEventListener("change", save)
  return h("div", { class: "tl-setting tl-pair" }, h("span", {}, "Words"), low, h("span", { "aria-hidden": "true" }, "to"), high)
}
