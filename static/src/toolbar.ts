/** The buttons in the header, and the same ones at the foot of a phone. */

import { button, h, iconButton } from "./dom"
import { icon } from "./icons"
import { type Commands, hint } from "./keys"
import type { Layout } from "./layout"
import { buildMoreMenu } from "./more_menu"
import { buildRefineOptions } from "./refine_options"

/** The text keeps its selection: pressing a tool must not take the focus. */
const KEEP_FOCUS = { mousedown: (event: MouseEvent): void => event.preventDefault() }

const OPTIONS_ID = "tl-refine-options"

/** Opens the same settings where the header has no room for its button. */
export function narrowOptionsButton(): HTMLButtonElement {
  return button([icon("sliders"), "Refine settings"], () => undefined, {
    class: "tl-quiet tl-narrow-only",
    popovertarget: OPTIONS_ID,
  })
}

/** The settings, hung under their button while it is to be seen. */
function optionsBelow(opener: HTMLElement): HTMLElement {
  const options = buildRefineOptions(OPTIONS_ID)
  options.addEventListener("beforetoggle", () => {
    const { right } = opener.getBoundingClientRect()
    options.style.right = right > 0 ? `${Math.max(12, window.innerWidth - right)}px` : ""
  })
  return options
}

export interface Toolbar {
  /** Whether the selection allows a lock or region, and what Refine would work on. */
  show(facts: { canLock: boolean; isLocked: boolean; canMark: boolean; isRegion: boolean; numTargets: number }): void
}

export function buildToolbar(layout: Layout, commands: Commands, takeTour: () => void): Toolbar {
  const wide = toolSet(commands, "wide")
  const narrow = toolSet(commands, "narrow")
  const opener = iconButton(icon("sliders"), "Refine settings", () => undefined, {
    class: "tl-opener",
    popovertarget: OPTIONS_ID,
  })
  layout.tools.append(wide.lock, wide.region, h("span", { class: "tl-split" }, wide.refine, opener))
  const more = buildMoreMenu(commands, takeTour)
  layout.root.append(optionsBelow(opener), more.menu)
  layout.phoneTools.append(
    narrow.lock,
    narrow.region,
    narrow.refine,
    iconButton(icon("panel"), "Runs, review and history", layout.togglePanels, { class: "tl-tool" }),
  )
  layout.more.append(
    iconButton(icon("undo"), "Undo", () => void commands.undo(), { on: KEEP_FOCUS }),
    iconButton(icon("redo"), "Redo", () => void commands.redo(), { on: KEEP_FOCUS }),
    more.opener,
    iconButton(icon("panel"), "Runs, review and history", layout.togglePanels, {
      class: "tl-wide-only",
      "aria-controls": "tl-panels",
    }),
  )
  return {
    show: (facts) => {
      for (const set of [wide, narrow]) {
        relabel(set.lock, facts.isLocked ? "Unlock" : "Lock", facts.isLocked ? "unlock" : "lock", facts.canLock)
        relabel(set.region, facts.isRegion ? "Unmark" : "Region", "region", facts.canMark)
        set.refine.disabled = facts.numTargets === 0
        const words = set.refine.querySelector("span")
        if (words) words.textContent = facts.numTargets > 1 ? `Refine ${facts.numTargets}` : "Refine"
      }
    },
  }
}

interface ToolSet {
  lock: HTMLButtonElement
  region: HTMLButtonElement
  refine: HTMLButtonElement
}

function toolSet(commands: Commands, kind: "wide" | "narrow"): ToolSet {
  const tool = (name: "lock" | "region", words: string, run: () => boolean, hint: string): HTMLButtonElement => {
    const element = button([icon(name), h("span", {}, words)], () => void run(), { class: "tl-tool", title: hint })
    element.addEventListener("mousedown", KEEP_FOCUS.mousedown)
    return element
  }
  const refine = button([icon("wave"), h("span", {}, "Refine")], () => void commands.refine(), {
    class: `tl-primary tl-refine tl-${kind}`,
    title: hint("refine"),
  })
  refine.addEventListener("mousedown", KEEP_FOCUS.mousedown)
  return {
    lock: tool("lock", "Lock", () => commands.toggleLock(), hint("toggleLock")),
    region: tool("region", "Region", () => commands.toggleRegion(), hint("toggleRegion")),
    refine,
  }
}

function relabel(element: HTMLButtonElement, words: string, name: "lock" | "unlock" | "region", canUse: boolean): void {
  element.disabled = !canUse
  const label = element.querySelector("span")
  if (label === null || label.textContent === words) return
  label.textContent = words
  element.querySelector("svg")?.replaceWith(icon(name))
}
