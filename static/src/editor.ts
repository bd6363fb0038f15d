/** The CodeMirror editor: its extensions and its key map. Knows no session, no panels. */

import { collab } from "@codemirror/collab"
import { history } from "@codemirror/commands"
import { EditorState, type Extension, Prec, RangeSetBuilder } from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  dropCursor,
  EditorView,
  keymap,
  placeholder,
  ViewPlugin,
  type ViewUpdate,
} from "@codemirror/view"
import { draftSupport } from "./drafts"
import { type Commands, runShortcut } from "./keys"
import { guardHistory, lockSupport } from "./locks"
import { markSupport } from "./marks"
import { pasteSupport } from "./paste_over"
import { PROSE_KEYS } from "./prose_keys"
import { handleSupport } from "./region_handles"
import { type ReviewActions, reviewSupport } from "./review_marks"
import { spanSupport } from "./spans"

export interface EditorHost {
  readonly commands: Commands
  readonly review: ReviewActions
  noteUpdate(update: ViewUpdate): void
  noteCompositionEnd(): void
}

const CONTENT_ATTRIBUTES = {
  "aria-label": "Document text",
  "aria-describedby": "tl-help-line",
  // CodeMirror turns these off for code; this is prose.
  spellcheck: "true",
  autocorrect: "on",
  autocapitalize: "sentences",
  writingsuggestions: "true",
  translate: "yes",
}

/** Headings of Markdown stand out, empty lines are a pause; the signs stay, the text is plain. */
const lineStyles = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet
    constructor(view: EditorView) {
      this.decorations = decorateLines(view)
    }
    update(update: ViewUpdate): void {
      if (update.docChanged || update.viewportChanged) this.decorations = decorateLines(update.view)
    }
  },
  { decorations: (plugin) => plugin.decorations },
)

const PAUSE = Decoration.line({ class: "tl-pause" })

function decorateLines(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>()
  for (const { from, to } of view.visibleRanges) {
    for (let at = from; at <= to; ) {
      const line = view.state.doc.lineAt(at)
      const level = /^(#{1,4})\s/.exec(line.text)?.[1]?.length
      if (level !== undefined) {
        builder.add(line.from, line.from, Decoration.line({ class: `tl-heading tl-heading-${level}` }))
        builder.add(line.from, line.from + level, Decoration.mark({ class: "tl-sign" }))
      }
      if (line.length === 0) builder.add(line.from, line.from, PAUSE)
      at = line.to + 1
    }
  }
  return builder.finish()
}

/** Before all other keys of the editor, so that a changed shortcut wins. */
function shortcutKeys(commands: Commands): Extension {
  return Prec.high(EditorView.domEventHandlers({ keydown: (event) => runShortcut(event, commands) }))
}

export function makeState(
  host: EditorHost,
  text: string,
  collaboration: { startVersion: number; clientID: string },
): EditorState {
  return EditorState.create({
    doc: text,
    extensions: [
      history(),
      drawSelection(),
      dropCursor(),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of(CONTENT_ATTRIBUTES),
      placeholder("Write here. Leave a blank as [___] and Tideline offers words for it."),
      spanSupport(),
      lockSupport(),
      draftSupport(),
      markSupport(),
      handleSupport(),
      pasteSupport(),
        reviewSupport(host.review),
      lineStyles,
      collab(collaboration),
      shortcutKeys(host.commands),
      keymap.of(PROSE_KEYS),
      EditorView.updateListener.of((update) => host.noteUpdate(update)),
      EditorView.domEventHandlers({
        compositionend: () => {
          window.setTimeout(() => host.noteCompositionEnd(), 0)
          return false
        },
      }),
    ],
  })
}

export function makeView(parent: HTMLElement, state: EditorState): EditorView {
  return new EditorView({
    parent,
    state,
    dispatchTransactions: (transactions, view) => view.update(transactions.map(guardHistory)),
  })
}
