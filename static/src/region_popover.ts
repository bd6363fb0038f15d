/** The settings of a region in a popover at the region itself; closing it goes back to the text. */

import type { EditorView } from "@codemirror/view"
import { button, h, iconButton } from "./dom"
import { icon } from "./icons"
import { changeSettings, regionSettings } from "./region_settings"
import { removeSpan, type Span } from "./spans"

export function openRegionPopover(view: EditorView, span: Span): void {
  const kind = span.settings["blank"] === true ? "Blank" : "Region"
  const close = (): void => popover.hidePopover()
  const popover = h(
    "div",
    { class: "tl-popover tl-region-popover", popover: "auto", role: "dialog", "aria-label": `${kind} settings` },
    h("div", { class: "tl-popover-head" }, h("h2", {}, `${kind} settings`), iconButton(icon("cross"), "Close", close)),
    ...regionSettings(span, (change) => changeSettings(view, span.id, change)),
    h(
      "div",
      { class: "tl-row tl-popover-foot" },
      button("Remove region", () => {
        close()
        view.dispatch({ effects: removeSpan.of(span.id) })
      }, { class: "tl-quiet" }),
    ),
  )
  popover.addEventListener("toggle", () => {
    if (popover.matches(":popover-open")) return
    popover.remove()
    view.focus()
  })
  document.querySelector(".tl-app")?.append(popover)
  popover.showPopover()
  place(popover, view, span)
  popover.querySelector<HTMLElement>("input, select")?.focus({ preventScroll: true })
}

/** Under the region's first line where there is room, else above it; never outside the window. */
function place(popover: HTMLElement, view: EditorView, span: Span): void {
  const at = view.coordsAtPos(span.from + 1, -1)
  if (at === null) return
  const { width, height } = popover.getBoundingClientRect()
  const below = at.bottom + 6
  const top = below + height < window.innerHeight - 8 ? below : Math.max(8, at.top - height - 6)
  popover.style.inset = `${top}px auto auto ${Math.max(8, Math.min(at.left, window.innerWidth - width - 8))}px`
}
