/** What a session tells the page. */

import type { LinkState } from "./connection"
import type { RunEnded } from "./protocol.gen"
import type { RunRecord } from "./run_model"

export type SessionFact =
  | { kind: "changed" }
  | { kind: "opened" }
  /** The server has stored an edit, of this browser or another. */
  | { kind: "edited" }
  | { kind: "run_began"; run: RunRecord }
  | { kind: "pass"; run: RunRecord }
  /** News of a run for comparison. */
  | { kind: "baseline"; run: RunRecord }
  | { kind: "run_over"; run: RunRecord; frame: RunEnded }
  | { kind: "trouble"; code: string; message: string }
  | { kind: "note"; message: string }
  | { kind: "link"; link: LinkState }
  | { kind: "unsent"; text: string; message: string }
