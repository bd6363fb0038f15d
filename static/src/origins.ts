/**
 * Where the words come from, drawn over the text on demand: typed, pasted, from a model and so on.
 *
 * Told apart by the kind of line, not by colour. The marks move with edits until the server is
 * asked again; what is typed meanwhile is unmarked, which is what "typed" looks like.
 */

import { StateEffect, StateField } from "@codemirror/state"
import { Decoration, type DecorationSet, EditorView } from "@codemirror/view"
import { h, iconButton } from "./dom"
import { icon } from "./icons"
import type { OriginRun } from "./rest"

const KINDS: Record<OriginRun["origin"], string> = {
  typed: "typed",
  pasted: "pasted",
  model: "from a run",
  import: "imported",
  template: "from a template",
  restore: "restored",
}

/** Runs in UTF-16 units; null takes the marks away. */
const showOrigins = StateEffect.define<readonly OriginRun[] | null>()

const originsField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(value, transaction) {
    let next = value.map(transaction.changes)
    for (const effect of transaction.effects) if (effect.is(showOrigins)) next = marksOf(effect.value ?? [])
    return next
  },
  provide: (field) => EditorView.decorations.from(field),
})

const MARKS = new Map(
  Object.entries(KINDS).map(([kind, words]) => [
    kind,
    Decoration.mark({ class: `tl-origin tl-origin-${kind}`, attributes: { title: words }, inclusiveEnd: false }),
  ]),
)

function marksOf(runs: readonly OriginRun[]): DecorationSet {
  const marked = runs.filter(({ origin, from, to }) => origin !== "typed" && from < to)
  return Decoration.set(marked.flatMap(({ origin, from, to }) => {
    const mark = MARKS.get(origin)
    return mark === undefined ? [] : [mark.range(from, to)]
  }))
}

export interface OriginsHost {
  readonly view: EditorView
  /** The origins of the text at a version, in code points. */
  read(): Promise<{ version: number; runs: readonly OriginRun[] }>
  /** The version whose text the editor shows, unsent edits apart; null while there are any. */
  settledVersion(): number | null
  complain(error: unknown): void
}

const REST_MS = 700

/** The bar with the legend, and asking again after edits. */
export class Origins {
  readonly element = h("div", { class: "tl-origins", role: "group", "aria-label": "Where the words come from", hidden: true })
  private timer: number | undefined
  private host: OriginsHost | null = null

  get isShown(): boolean {
    return this.host !== null
  }

  open(host: OriginsHost): void {
    this.host = host
    this.element.hidden = false
    const { view } = host
    const isReady = view.state.field(originsField, false) !== undefined
    if (!isReady) view.dispatch({ effects: StateEffect.appendConfig.of(originsField) })
    this.element.replaceChildren(
      h("strong", {}, "Where the words come from"),
      ...Object.entries(KINDS).map(([kind, words]) => h("span", {}, h("span", { class: `tl-origin tl-origin-${kind}` }, words))),
      h("span", { class: "tl-card-gap" }),
      iconButton(icon("cross"), "Hide where the words come from", () => this.close()),
    )
    void this.read()
  }

  close(): void {
    window.clearTimeout(this.timer)
    this.host?.view.dispatch({ effects: showOrigins.of(null) })
    this.host = null
    this.element.hidden = true
  }

  /** The text or what is saved of it has changed. */
  noteChange(): void {
    if (this.host === null) return
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => void this.read(), REST_MS)
  }

  private async read(): Promise<void> {
    const { host } = this
    if (host === null) return
    try {
      const { version, runs } = await host.read()
      if (host !== this.host) return
      // An answer about another text would mark the wrong words: ask again once it is saved.
      if (version !== host.settledVersion()) return this.noteChange()
      host.view.dispatch({ effects: showOrigins.of(inUtf16(runs, host.view.state.doc.toString())) })
    } catch (error) {
      this.close()
      host.complain(error)
    }
  }
}

/** Code points to UTF-16 units; runs lie in order. */
function inUtf16(runs: readonly OriginRun[], text: string): OriginRun[] {
  let [points, units] = [0, 0]
  const unitAt = (point: number): number => {
    for (; points < point; points++) units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1
    return Math.min(units, text.length)
  }
  return runs.map((run) => ({ ...run, from: unitAt(run.from), to: unitAt(run.to) }))
}
