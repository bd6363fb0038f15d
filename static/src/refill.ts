/**
 * Redraws a part of a panel without moving the focus: nothing is touched while its signature is
 * the same, and an element that had the focus gets it back by its `data-key`.
 */

const SIGNATURES = new WeakMap<Element, string>()

export function refill(container: HTMLElement, signature: string, build: () => Node[]): void {
  if (SIGNATURES.get(container) === signature) return
  SIGNATURES.set(container, signature)
  const focused = document.activeElement
  const key = focused instanceof HTMLElement && container.contains(focused) ? focused.dataset["key"] : undefined
  container.replaceChildren(...build())
  if (key !== undefined) {
    container.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
  }
}
