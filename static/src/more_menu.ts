/** The menu of what is not needed every minute; every entry says its key. */

import { button, h, iconButton, replaceChildren } from "./dom"
import { icon, type IconName } from "./icons"
import { type CommandName, type Commands, hint } from "./keys"
import { setTheme, theme, type Theme } from "./preferences"

const MENU_ID = "tl-more-menu"

const ENTRIES: readonly { command: CommandName; picture: IconName; words: string }[] = [
  { command: "nameVersion", picture: "flag", words: "Name this version" },
  { command: "showReplay", picture: "play", words: "Replay the last run" },
  { command: "compareAlternatives", picture: "columns", words: "Alternatives side by side" },
  { command: "regionSettings", picture: "sliders", words: "Settings of this region" },
  { command: "toggleOrigins", picture: "info", words: "Where the words come from" },
  { command: "togglePlain", picture: "edit", words: "Plain-text view" },
  { command: "showShortcuts", picture: "keyboard", words: "Keyboard shortcuts" },
]

const THEMES: readonly { theme: Theme; words: string }[] = [
  { theme: "auto", words: "System" },
  { theme: "light", words: "Light" },
  { theme: "dark", words: "Dark" },
]

/** The button and its menu; `takeTour` has no key. */
export function buildMoreMenu(commands: Commands, takeTour: () => void): { opener: HTMLElement; menu: HTMLElement } {
  const menu = h("div", { class: "tl-popover tl-more-menu", id: MENU_ID, popover: "auto", role: "group", "aria-label": "More" })
  const entry = (picture: IconName, words: string, key: string, run: () => void): HTMLElement =>
    button([icon(picture), h("span", { class: "tl-menu-words" }, words), key === "" ? null : h("kbd", {}, key)], () => {
      menu.hidePopover()
      run()
    }, { class: "tl-quiet" })
  menu.addEventListener("beforetoggle", () =>
    replaceChildren(
      menu,
      ...ENTRIES.map(({ command, picture, words }) => entry(picture, words, hint(command), () => void commands[command]())),
      entry("wave", "Take the tour", "", takeTour),
      themeChoice(),
    ),
  )
  const opener = iconButton(icon("more"), "More", () => undefined, { popovertarget: MENU_ID })
  return { opener, menu }
}

function themeChoice(): HTMLElement {
  const choices = THEMES.map(({ theme: value, words }) => {
    const input = h("input", { type: "radio", name: "tl-theme", value, checked: value === theme() })
    input.addEventListener("change", () => setTheme(value))
    return h("label", {}, input, h("span", {}, words))
  })
  return h("fieldset", { class: "tl-segments" }, h("legend", {}, "Theme"), ...choices)
}
