/** The first document: one lock, one region, two blanks, so that one press on Refine shows it all. */

import type { NewRestSpan } from "./rest"

const LOCKED = ["Thursday 14 May", "09:30"] as const
const REGION = "come a bit early"
const BLANKS = ["[___]", "{{verb}}"] as const

const TEXT = `# Welcome to Tideline

This page is a real document. Change anything you like.

Dear colleague,

The harbour walk takes place on ${LOCKED[0]} at ${LOCKED[1]}. We meet at the old lighthouse and follow the water before we turn back along the dunes. The path is easy, but it can be windy, so please bring a warm ${BLANKS[0]} and good shoes.

We would be happy if you could ${REGION}, so that there is enough time for tea.

We look forward to ${BLANKS[1]} you there.

## What you see

The words with a padlock are locked: no run can touch them, and neither can a slip of the keyboard. The underlined words behind a bracket are a region: they may be rewritten. The boxes are blanks, waiting for words.

Press Refine. Words appear over the text while they are still open to change, and settle pass by pass. Nothing enters the document until you accept it.
`

function rangeOf(words: string): { from: number; to: number } {
  const from = TEXT.indexOf(words)
  return { from, to: from + words.length }
}

/** Every character of the text is one code point and one UTF-16 unit, so offsets agree. */
export function sampleDocument(): { title: string; text: string; spans: NewRestSpan[] } {
  const locks = LOCKED.map((words): NewRestSpan => ({ kind: "locked", ...rangeOf(words) }))
  const region: NewRestSpan = { kind: "region", ...rangeOf(REGION) }
  const [open, short] = BLANKS
  const blanks: NewRestSpan[] = [
    { kind: "region", ...rangeOf(open), settings: { blank: true } },
    { kind: "region", ...rangeOf(short), settings: { blank: true, length: 1 } },
  ]
  return { title: "Welcome to Tideline", text: TEXT, spans: [...locks, region, ...blanks] }
}
