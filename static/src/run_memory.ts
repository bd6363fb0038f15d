/** Remembers on this device which run was the last of each document, so that its card can be read later. */

const KEY = "tideline.runs"
const MOST_KEPT = 100

function readAll(): [string, string][] {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]")
    return Array.isArray(value) ? (value as [string, string][]) : []
  } catch {
    return []
  }
}

export function rememberRun(documentId: string, runId: string): void {
  const others = readAll().filter(([id]) => id !== documentId)
  try {
    localStorage.setItem(KEY, JSON.stringify([...others, [documentId, runId]].slice(-MOST_KEPT)))
  } catch {
    // Not kept; the card is there until the page is left.
  }
}

export function rememberedRun(documentId: string | null): string | null {
  return readAll().find(([id]) => id === documentId)?.[1] ?? null
}
