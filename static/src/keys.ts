/** Every shortcut, in one table: the editor's key map and the shortcut sheet are made of it. */

export interface Shortcut {
  /** CodeMirror's notation; Mod is Ctrl, or ⌘ on a Mac. */
  readonly key: string
  readonly command: CommandName
  readonly words: string
}

export type CommandName =
  | "refine"
  | "refineAll"
  | "toggleLock"
  | "toggleRegion"
  | "stop"
  | "pauseView"
  | "nextSuggestion"
  | "previousSuggestion"
  | "nextAlternative"
  | "acceptActive"
  | "rejectActive"
  | "nextBlank"
  | "previousBlank"
  | "showShortcuts"
  | "saveNow"
  | "undo"
  | "redo"

export const SHORTCUTS: readonly Shortcut[] = [
  { key: "Mod-Enter", command: "refine", words: "Refine the region at the caret, or all regions" },
  { key: "Mod-Shift-Enter", command: "refineAll", words: "Refine all regions" },
  { key: "Alt-Shift-l", command: "toggleLock", words: "Lock or unlock the selected words" },
  { key: "Alt-Shift-g", command: "toggleRegion", words: "Mark the selection as a region, or unmark it" },
  { key: "F2", command: "nextBlank", words: "Next blank or region" },
  { key: "Shift-F2", command: "previousBlank", words: "Previous blank or region" },
  { key: "F8", command: "nextSuggestion", words: "Next suggestion (then arrows, Enter, Delete)" },
  { key: "Shift-F8", command: "previousSuggestion", words: "Previous suggestion" },
  { key: "Alt-Shift-r", command: "nextAlternative", words: "Another alternative" },
  { key: "Alt-Shift-y", command: "acceptActive", words: "Accept the active suggestion" },
  { key: "Alt-Shift-n", command: "rejectActive", words: "Reject the active suggestion" },
  { key: "Alt-Shift-p", command: "pauseView", words: "Pause or resume the live view" },
  { key: "Escape", command: "stop", words: "Close what is open; then stop the run" },
  { key: "Mod-s", command: "saveNow", words: "Send what is not saved yet; the rest is saved as you write" },
  { key: "Mod-/", command: "showShortcuts", words: "This list" },
]

export const BUILT_IN: readonly { key: string; words: string }[] = [
  { key: "Mod-z", words: "Undo; an accepted run is one step" },
  { key: "Mod-Shift-z", words: "Redo" },
  { key: "Tab", words: "Leave the text" },
]

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.userAgent)

/** A shortcut the way the keyboard shows it. */
export function keyLabel(key: string): string {
  const parts = key.split("-").map((part) => {
    if (part === "Mod") return IS_MAC ? "⌘" : "Ctrl"
    if (part === "Escape") return "Esc"
    return part.length === 1 ? part.toUpperCase() : part
  })
  return parts.join(IS_MAC ? " " : "+")
}
