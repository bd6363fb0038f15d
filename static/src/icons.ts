/** The icon set: 16 px line drawings in the current text colour, hidden from screen readers. */

import { svg } from "./dom"

const PATHS = {
  lock: "M5 7V5a3 3 0 0 1 6 0v2M4 7h8v6H4z",
  unlock: "M5 7V5a3 3 0 0 1 5.8-1M4 7h8v6H4z",
  region: "M3 5V3h2M11 3h2v2M13 11v2h-2M5 13H3v-2M7 3h2M7 13h2M3 7v2M13 7v2",
  wave: "M1.5 6c1.6 0 1.6 1.4 3.2 1.4S6.4 6 8 6s1.7 1.4 3.3 1.4S12.9 6 14.5 6M1.5 10c1.6 0 1.6 1.4 3.2 1.4S6.4 10 8 10s1.7 1.4 3.3 1.4 1.6-1.4 3.2-1.4",
  stop: "M4.5 4.5h7v7h-7z",
  pause: "M5.5 4v8M10.5 4v8",
  play: "M5 3.5v9l7-4.5z",
  check: "M3 8.5l3.2 3L13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  plus: "M8 3v10M3 8h10",
  left: "M9.5 4L5.5 8l4 4",
  right: "M6.5 4l4 4-4 4",
  down: "M4 6.5l4 4 4-4",
  upload: "M8 10.5V3M5 5.5L8 2.8l3 2.7M3 10v3h10v-3",
  download: "M8 3v7.5M5 8l3 2.7L11 8M3 10.5V13h10v-2.5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  panel: "M2.5 3.5h11v9h-11zM10 3.5v9",
  keyboard: "M1.5 4.5h13v7h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.5h6",
  info: "M8 2.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M8 7.3v3.4M8 5.3h.01",
  trash: "M3 4.5h10M6.2 4.5V3h3.6v1.5M4.3 4.5l.6 8.5h6.2l.6-8.5M6.8 7v3.6M9.2 7v3.6",
  edit: "M3 13l.6-2.6 7-7 2 2-7 7z",
  undo: "M6 4L3 7l3 3M3 7h6.5a3.5 3.5 0 0 1 0 7H8",
  redo: "M10 4l3 3-3 3M13 7H6.5a3.5 3.5 0 0 0 0 7H8",
  up: "M4 9.5l4-4 4 4",
  flag: "M4 13.5V3h8l-2 3 2 3H4",
  first: "M11.5 4L7.5 8l4 4M4.5 4v8",
  last: "M4.5 4l4 4-4 4M11.5 4v8",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  columns: "M2.5 3.5h4.5v9H2.5zM9 3.5h4.5v9H9z",
  swap: "M5.5 3v9.5M3 10l2.5 2.5L8 10M10.5 13V3.5M8 6l2.5-2.5L13 6",
  sliders: "M2.5 5h6M11.5 5h2M8.5 3.5v3h3v-3zM2.5 11h2M7.5 11h6M4.5 9.5v3h3v-3z",
} as const

export type IconName = keyof typeof PATHS

export function icon(name: IconName): SVGElement {
  return svg(
    "svg",
    { class: "tl-icon", viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" },
    svg("path", { d: PATHS[name] }),
  )
}
