/** What a person set on this device: theme, how live passes are shown, refine settings. */

import type { RefineSettings } from "./protocol.gen"

export type Theme = "auto" | "light" | "dark"
export type UpdateRate = "live" | "slow" | "done"

export type DraftWords = "all" | "settled"

const KEYS = {
  theme: "tideline.theme",
  rate: "tideline.rate",
  words: "tideline.words",
  settings: "tideline.settings",
  keys: "tideline.keys",
  tour: "tideline.tour",
} as const

function read(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null // storage may be switched off; defaults serve
  }
}

function write(key: string, value: string): void {
  try {
    localStorage.setItem(key, value)
  } catch {
    // not kept, works for this page
  }
}

export function theme(): Theme {
  const value = read(KEYS.theme)
  return value === "light" || value === "dark" ? value : "auto"
}

export function setTheme(value: Theme): void {
  write(KEYS.theme, value)
  applyTheme()
}

const DARK = window.matchMedia("(prefers-color-scheme: dark)")
const CALM = window.matchMedia("(prefers-reduced-motion: reduce)")

export function applyTheme(): void {
  const chosen = theme()
  const isDark = chosen === "dark" || (chosen === "auto" && DARK.matches)
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light"
  document.body.classList.toggle("dark", isDark) // Gradio's own switch
}

DARK.addEventListener("change", applyTheme)

export function prefersCalm(): boolean {
  return CALM.matches
}

/** Reduced motion shows a run only when it is done, unless the person chose otherwise. */
export function updateRate(): UpdateRate {
  const value = read(KEYS.rate)
  if (value === "live" || value === "slow" || value === "done") return value
  return prefersCalm() ? "done" : "live"
}

export function setUpdateRate(value: UpdateRate): void {
  write(KEYS.rate, value)
}

/** Whether open words are drawn too, or only what has settled. */
export function draftWords(): DraftWords {
  return read(KEYS.words) === "settled" ? "settled" : "all"
}

export function setDraftWords(value: DraftWords): void {
  write(KEYS.words, value)
}

export function refineSettings(): RefineSettings {
  return readObject<RefineSettings>(KEYS.settings)
}

export function setRefineSettings(value: RefineSettings): void {
  write(KEYS.settings, JSON.stringify(value))
}

/** Command to key, for the shortcuts a person changed. */
export function readKeys(): Record<string, string> {
  return readObject<Record<string, string>>(KEYS.keys)
}

export function writeKeys(value: Record<string, string>): void {
  write(KEYS.keys, JSON.stringify(value))
}

export function isTourDone(): boolean {
  return read(KEYS.tour) === "done"
}

export function setTourDone(): void {
  write(KEYS.tour, "done")
}

/** What was kept as JSON; an empty object where there is none, or none that can be read. */
function readObject<T extends object>(key: string): T {
  try {
    const value: unknown = JSON.parse(read(key) ?? "{}")
    return (typeof value === "object" && value !== null ? value : {}) as T
  } catch {
    return {} as T
  }
}
