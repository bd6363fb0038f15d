/** Tabs as WAI-ARIA describes them: one tab stop, arrow keys move, panels are labelled. */

import { h } from "./dom"

export interface Tab {
  readonly name: string
  readonly panel: HTMLElement
}

export interface Tabs {
  readonly element: HTMLElement
  select(name: string): void
  readonly selected: string
  /** A number beside the name, 0 for none. */
  badge(name: string, count: number): void
}

export function buildTabs(label: string, tabs: readonly Tab[]): Tabs {
  let selected = tabs[0]?.name ?? ""
  const buttons = tabs.map(({ name, panel }) => {
    const [tabId, panelId] = [`tl-tab-${name}`, `tl-tabpanel-${name}`]
    panel.id = panelId
    panel.setAttribute("role", "tabpanel")
    panel.setAttribute("aria-labelledby", tabId)
    panel.removeAttribute("aria-label")
    return h(
      "button",
      { type: "button", role: "tab", id: tabId, "aria-controls": panelId, class: "tl-tab", on: { click: () => select(name) } },
      name,
      h("span", { class: "tl-badge", hidden: true }),
    )
  })
  const list = h("div", { class: "tl-tabs", role: "tablist", "aria-label": label }, ...buttons)
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0
    if (step === 0) return
    const index = tabs.findIndex(({ name }) => name === selected)
    const next = (index + step + tabs.length) % tabs.length
    select(tabs[next]?.name ?? selected)
    buttons[next]?.focus()
    event.preventDefault()
  })

  function select(name: string): void {
    selected = name
    tabs.forEach((tab, index) => {
      const isSelected = tab.name === name
      tab.panel.hidden = !isSelected
      buttons[index]?.setAttribute("aria-selected", String(isSelected))
      buttons[index]?.setAttribute("tabindex", isSelected ? "0" : "-1")
    })
  }
  select(selected)

  return {
    element: h("div", { class: "tl-tabbed" }, list, ...tabs.map(({ panel }) => panel)),
    select,
    get selected() {
      return selected
    },
    badge: (name, count) => {
      const badge = buttons[tabs.findIndex((tab) => tab.name === name)]?.querySelector<HTMLElement>(".tl-badge")
      if (!badge) return
      badge.hidden = count === 0
      badge.textContent = String(count)
    },
  }
}
