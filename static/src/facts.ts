/** Facts that an alternative would change: numbers, doses, units, dates, negation. In visible words. */

import { h } from "./dom"
import type { FactFlag } from "./protocol.gen"

/** "Dose changed: 5 mg became 5 g". */
export function flagWords({ kind, what, before, after }: FactFlag): string {
  const name = what.charAt(0).toUpperCase() + what.slice(1)
  if (before != null && after != null) return `${name} ${kind}: ${before} became ${after}`
  return `${name} ${kind}: ${before ?? after ?? ""}`
}

export function flagList(flags: readonly FactFlag[]): HTMLElement | null {
  if (flags.length === 0) return null
  return h(
    "ul",
    { class: "tl-flags", "aria-label": "Facts that would change" },
    ...flags.map((flag) => h("li", {}, h("span", { class: "tl-flag-sign", "aria-hidden": "true" }, "!"), flagWords(flag))),
  )
}
