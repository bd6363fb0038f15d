/** What a person set on this device: theme, how live passes are shown, refine settings. */

import type { RefineSettings } from "./protocol.gen"

export type Theme = "auto" | "light" | "dark"
export type UpdateRate = "live" | "slow" | "done"

const KEYS = { theme: "tideline.theme", rate: "tideline.rate", settings: "tideline.settings" } as const

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

export function refineSettings(): RefineSettings {
  try {
    const value: unknown = JSON.parse(read(KEYS.settings) ?? "{}")
    return typeof value === "object" && value !== null ? (value as RefineSettings) : {}
  } catch {
    return {}
  }
}

export function setRefineSettings(value: RefineSettings): void {
  write(KEYS.settings, JSON.stringify(value))
}
