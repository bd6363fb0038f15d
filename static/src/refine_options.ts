/** The popover beside Refine: preset, budgets, seed, how many alternatives, and a brief. */

import { h } from "./dom"
import { refineSettings, setRefineSettings } from "./preferences"
import type { RefineSettings } from "./protocol.gen"

const PRESETS = [
  { preset: "fast", words: "Fast" },
  { preset: "balanced", words: "Balanced" },
  { preset: "careful", words: "Careful" },
] as const

type NumberKey = "steps" | "time_budget_s" | "seed" | "alternatives"

interface NumberField {
  key: NumberKey
  words: string
  min: number
  max: number
  step: number
  placeholder: string
}

const NUMBERS: readonly NumberField[] = [
  { key: "steps", words: "Most passes", min: 1, max: 512, step: 1, placeholder: "preset" },
  { key: "time_budget_s", words: "Seconds", min: 0.5, max: 3600, step: 0.5, placeholder: "no limit" },
  { key: "alternatives", words: "Alternatives", min: 1, max: 8, step: 1, placeholder: "3" },
  { key: "seed", words: "Seed", min: 0, max: 4294967295, step: 1, placeholder: "0" },
]

export function buildRefineOptions(id: string): HTMLElement {
  const settings: RefineSettings = refineSettings()
  const save = (): void => setRefineSettings(settings)
  return h(
    "div",
    { class: "tl-popover tl-options", id, popover: "auto", role: "dialog", "aria-label": "Refine settings" },
    presetChoice(settings, save),
    h("div", { class: "tl-number-grid" }, ...NUMBERS.map((field) => numberField(field, settings, save))),
    briefField(settings, save),
  )
}

function presetChoice(settings: RefineSettings, save: () => void): HTMLElement {
  const chosen = settings.preset ?? "balanced"
  const choices = PRESETS.map(({ preset, words }) => {
    const input = h("input", { type: "radio", name: "tl-preset", value: preset })
    input.checked = preset === chosen
    input.addEventListener("change", () => {
      settings.preset = preset
      save()
    })
    return h("label", {}, input, h("span", {}, words))
  })
  return h("fieldset", { class: "tl-segments" }, h("legend", {}, "Care"), ...choices)
}

function numberField(field: NumberField, settings: RefineSettings, save: () => void): HTMLElement {
  const { key, words, min, max, step, placeholder } = field
  const input = h("input", { type: "number", min, max, step, placeholder, inputmode: "decimal" })
  const value = settings[key]
  input.value = typeof value === "number" ? String(value) : ""
  input.addEventListener("change", () => {
    if (!input.validity.valid) return
    if (input.value === "") delete settings[key]
    else settings[key] = input.valueAsNumber
    save()
  })
  return h("label", { class: "tl-setting" }, h("span", {}, words), input)
}

function briefField(settings: RefineSettings, save: () => void): HTMLElement {
  const area = h("textarea", { rows: 2, maxlength: 4000, placeholder: "Who it is for, what it should say" })
  area.value = settings.brief ?? ""
  area.addEventListener("change", () => {
    settings.brief = area.value
    save()
  })
  return h("label", { class: "tl-setting tl-stacked" }, h("span", {}, "Brief, read before the text"), area)
}
