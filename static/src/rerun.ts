/** Refine pressed where a run is at work: it is stopped, and the same regions start anew (G7). */

import type { RefineSettings } from "./protocol.gen"
import type { DocumentSession } from "./session"

/** Starts once the runs that hold these regions have ended; a second press meanwhile changes nothing. */
export function refineAgain(session: DocumentSession, regions: string[], settings: RefineSettings): void {
  const held = session.runs.active().filter(({ spanIds }) => spanIds.some((id) => regions.includes(id)))
  if (held.some(({ isReplaced }) => isReplaced)) return
  for (const run of held) run.isReplaced = true
  const end = session.facts.listen(({ kind }) => {
    const busy = session.runs.busySpans()
    if (kind !== "run_over" || regions.some((id) => busy.has(id))) return
    end()
    session.refine(regions, settings)
  })
  session.stop(held)
}
