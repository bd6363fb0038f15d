/** Entry: the Gradio shell imports this module and hands over one empty element. */

import "../theme.css"
import { App } from "./app"
import { applyTheme } from "./preferences"

export function mount(root: HTMLElement): void {
  if (root.dataset["mounted"] === "true") return
  root.dataset["mounted"] = "true"
  applyTheme()
  void new App(root).start()
}
