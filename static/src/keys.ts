/**
 * Every shortcut, in one table: the keyboard, the shortcut sheet and the settings are made of it.
 *
 * Keys are written in CodeMirror's notation; Mod is Ctrl, or ⌘ on a Mac. A person may change any of
 * them; what they chose is kept on the device. No single characters, and no Ctrl+Alt+letter: that
 * is AltGr, which writes characters on many keyboards.
 */

import { readKeys, writeKeys } from "./preferences"

export interface Shortcut {
  readonly key: string
  readonly command: CommandName
  readonly words: string
}

const DEFAULTS = [
  { key: "Mod-Enter", command: "refine", words: "Refine the region at the caret, or all regions" },
  { key: "Mod-Shift-Enter", command: "refineAll", words: "Refine all regions" },
  { key: "Alt-Shift-l", command: "toggleLock", words: "Lock or unlock the selected words" },
  { key: "Alt-Shift-g", command: "toggleRegion", words: "Mark, resize or merge a region; with the caret in one, unmark it" },
  { key: "Alt-Shift-s", command: "regionSettings", words: "Settings of the region at the caret" },
  { key: "F2", command: "nextBlank", words: "Next blank or region" },
  { key: "Shift-F2", command: "previousBlank", words: "Previous blank or region" },
  { key: "F8", command: "nextSuggestion", words: "Next change (then Enter keeps, Delete rejects)" },
  { key: "Shift-F8", command: "previousSuggestion", words: "Previous change" },
  { key: "Alt-Shift-r", command: "nextAlternative", words: "Another alternative" },
  { key: "Alt-Shift-a", command: "compareAlternatives", words: "Alternatives side by side" },
  { key: "Alt-Shift-o", command: "peekOriginal", words: "Hold to see the original" },
  { key: "Alt-Shift-y", command: "acceptActive", words: "Accept the active suggestion" },
  { key: "Alt-Shift-n", command: "rejectActive", words: "Reject the active suggestion" },
  { key: "Alt-Shift-p", command: "pauseView", words: "Pause or resume the live view" },
  { key: "Alt-Shift-v", command: "showReplay", words: "Replay the last run" },
  { key: "Alt-Shift-t", command: "togglePlain", words: "Plain-text view on or off" },
  { key: "Alt-Shift-w", command: "toggleOrigins", words: "Show where the words come from" },
  { key: "Escape", command: "stop", words: "Close what is open; then stop the run" },
  { key: "Mod-s", command: "nameVersion", words: "Name this version" },
  { key: "Mod-/", command: "showShortcuts", words: "This list" },
] as const

export type CommandName = (typeof DEFAULTS)[number]["command"]

/** Keys that cannot be changed. */
export const BUILT_IN: readonly { key: string; words: string }[] = [
  { key: "F1", words: "This list" },
  { key: "Mod-z", words: "Undo; an accepted run is one step" },
  { key: "Mod-Shift-z", words: "Redo" },
  { key: "Mod-a", words: "Select the region, then everything" },
  { key: "Tab", words: "Leave the text" },
]

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)
const MODIFIERS = ["Mod", "Ctrl", "Meta", "Alt", "Shift"] as const
const FUNCTION_KEY = /^F([1-9]|1[0-2])$/

/** The shortcuts as they are now, changed ones included. */
export function shortcuts(): readonly Shortcut[] {
  const own = readKeys()
  return DEFAULTS.map((shortcut) => ({ ...shortcut, key: own[shortcut.command] ?? shortcut.key }))
}

export function keyOf(command: CommandName): string {
  return shortcuts().find((one) => one.command === command)?.key ?? ""
}

/** The command's key as the keyboard shows it, for tooltips. */
export function hint(command: CommandName): string {
  return keyLabel(keyOf(command))
}

export function isChanged(): boolean {
  return Object.keys(readKeys()).length > 0
}

export function rebind(command: CommandName, key: string): void {
  const own = { ...readKeys(), [command]: key }
  if (DEFAULTS.some((one) => one.command === command && one.key === key)) delete own[command]
  writeKeys(own)
}

export function resetKeys(): void {
  writeKeys({})
}

/** Why a command may not have a key, or null. */
export function problemWith(key: string, command: CommandName): string | null {
  const parts = key.split("-")
  const last = parts.at(-1) ?? ""
  const has = (name: (typeof MODIFIERS)[number]): boolean => parts.includes(name)
  const isHeld = has("Mod") || has("Ctrl") || has("Meta") || has("Alt")
  if (!isHeld && !FUNCTION_KEY.test(last) && last !== "Escape") return "Hold Ctrl or Alt, or use a function key."
  if (has("Alt") && (has("Mod") || has("Ctrl")) && last.length === 1) return "Ctrl+Alt with a character is AltGr on many keyboards."
  if (has("Alt") && !has("Shift") && last.length === 1) return "Alt with a character alone opens menus. Add Shift."
  if (BUILT_IN.some((one) => one.key === key)) return "That key has a fixed meaning here."
  const other = shortcuts().find((one) => one.key === key && one.command !== command)
  return other === undefined ? null : `That key is taken: ${other.words.toLowerCase()}.`
}

/** A key press in the table's notation; null while only modifiers are down. */
export function pressedKey(event: KeyboardEvent): string | null {
  if (["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead"].includes(event.key)) return null
  const parts: string[] = []
  if (IS_MAC ? event.metaKey : event.ctrlKey) parts.push("Mod")
  if (IS_MAC && event.ctrlKey) parts.push("Ctrl")
  if (!IS_MAC && event.metaKey) parts.push("Meta")
  if (event.altKey) parts.push("Alt")
  const name = nameOf(event)
  // A sign such as "?" or "/" may need Shift on one keyboard and not on another.
  if (event.shiftKey && (name.length > 1 || /[\p{L}\p{N}]/u.test(name))) parts.push("Shift")
  return [...parts, name].join("-")
}

/** Option on a Mac turns letters into signs; the place of the key still tells the letter. */
function nameOf({ key, code, altKey }: KeyboardEvent): string {
  const letter = /^(?:Key|Digit)(.)$/.exec(code)?.[1]
  if (altKey && letter !== undefined && !/^[\x21-\x7e]$/.test(key)) return letter.toLowerCase()
  return key.length === 1 ? key.toLowerCase() : key
}

export type Commands = Record<CommandName | "undo" | "redo", () => boolean>

/** Runs what a key stands for; returns whether it did anything. */
export function runShortcut(event: KeyboardEvent, commands: Commands): boolean {
  if (event.isComposing) return false
  const pressed = pressedKey(event)
  if (pressed === null || pressed.length === 1) return false
  if (pressed === "F1") return commands.showShortcuts()
  const shortcut = shortcuts().find(({ key }) => key === pressed)
  return shortcut !== undefined && commands[shortcut.command]()
}

/** A shortcut the way the keyboard shows it. */
export function keyLabel(key: string): string {
  const parts = key.split("-").map((part) => {
    if (part === "Mod") return IS_MAC ? "⌘" : "Ctrl"
    if (part === "Escape") return "Esc"
    return part.length === 1 ? part.toUpperCase() : part
  })
  return parts.join(IS_MAC ? " " : "+")
}
