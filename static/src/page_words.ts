/** Small sentences of the page: how many words, what became of the connection. */

import type { EditorView } from "@codemirror/view"

/** Words are counted again only when the text changed. */
const COUNTS = new WeakMap<object, number>()

export function wordCount(view: EditorView): string {
  const { doc } = view.state
  let count = COUNTS.get(doc)
  if (count === undefined) {
    count = 0
    for (const line of doc.iterLines()) count += line.match(/\S+/g)?.length ?? 0
    COUNTS.set(doc, count)
  }
  return count === 1 ? "1 word" : `${count.toLocaleString()} words`
}

export function linkAlarm(link: string): string {
  switch (link) {
    case "waiting":
      return "Connection lost. You can go on writing; it is kept on this device and sent later."
    case "denied":
      return "Your access has ended. Open the link the server printed in another tab; your text stays here."
    case "gone":
      return "This document is no longer on the server. Copy your text."
    default:
      return ""
  }
}
