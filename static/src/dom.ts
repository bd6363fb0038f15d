/** Builds DOM nodes. Knows nothing of the application; user text only ever enters as text nodes. */

export type Child = Node | string | null | undefined | false

export interface Attributes {
  class?: string
  title?: string
  /** Event listeners, by event name. */
  on?: { [E in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[E]) => void }
  [name: string]: unknown
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  setAttributes(element, attributes)
  append(element, children)
  return element
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") listen(element, attributes.on ?? {})
    else if (value === false || value === null || value === undefined) element.removeAttribute(name)
    else if (value === true) element.setAttribute(name, "")
    else element.setAttribute(name, String(value))
  }
}

function listen(element: Element, listeners: NonNullable<Attributes["on"]>): void {
  for (const [event, listener] of Object.entries(listeners)) {
    element.addEventListener(event, listener as EventListener)
  }
}

export function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child)
  }
}

export function replaceChildren(element: Element, ...children: Child[]): void {
  element.replaceChildren()
  append(element, children)
}

const SVG = "http://www.w3.org/2000/svg"

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag)
  setAttributes(element, attributes)
  append(element, children)
  return element
}

/** A button that only shows an icon has its name in `aria-label` and a tooltip. */
export function iconButton(
  icon: SVGElement,
  name: string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const { class: extra, on, ...rest } = attributes
  return h(
    "button",
    {
      type: "button",
      class: `tl-icon-button ${extra ?? ""}`.trim(),
      "aria-label": name,
      title: name,
      ...rest,
      on: { ...on, click: onClick },
    },
    icon,
  )
}

export function button(
  label: Child[] | string,
  onClick: () => void,
  attributes: Attributes = {},
): HTMLButtonElement {
  const { class: extra, ...rest } = attributes
  return h(
    "button",
    { type: "button", class: `tl-button ${extra ?? ""}`.trim(), ...rest, on: { click: onClick } },
    ...(typeof label === "string" ? [label] : label),
  )
}

export function assertNever(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
