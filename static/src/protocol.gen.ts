// Generated from editor/protocol/messages.py. Do not edit.
// Write again with: python -m editor.protocol.typescript > static/src/protocol.gen.ts
// Offsets are UTF-16 code units; ranges are half-open.

export const PROTOCOL_VERSION = 1

export interface SpanWire {
  id: string
  kind: "locked" | "region" | "field"
  from: number
  to: number
  settings: Record<string, unknown>
}

export interface NewSpan {
  id?: string | null
  kind: "locked" | "region" | "field"
  from: number
  to: number
  settings?: Record<string, unknown>
}

/** One CodeMirror collab update. */
export interface UpdateWire {
  clientID: string
  changes: unknown[]
}

/** A fact that differs between a region's text and a filling for it. */
export interface FactFlag {
  kind: "changed" | "dropped" | "added" | "swapped"
  what: "number" | "dose" | "date" | "negation" | "side" | "name" | "quote"
  before: string | null
  after: string | null
}

export interface AlternativeWire {
  text: string
  score: number
  flags: FactFlag[]
}

export interface SuggestionWire {
  id: string
  run_id: string
  span_id: string
  original: string
  alternatives: AlternativeWire[]
  confidence: number
  state: "open" | "accepted" | "rejected" | "void"
}

export interface RunWire {
  run_id: string
  state: "queued" | "running" | "finished" | "cancelled" | "failed"
  span_ids: string[]
  passes: number
  max_passes: number
}

export interface RevisionWire {
  n: number
  parent: number | null
  version: number
  author_kind: "person" | "model" | "import" | "restore"
  summary: string
  created_at: string
  hash: string
  name: string | null
}

/** What a user may set for one run; REST, websocket and command line share it. */
export interface RefineSettings {
  route?: "auto" | "diffusion" | "autoregressive"
  preset?: "fast" | "balanced" | "careful"
  steps?: number | null
  time_budget_s?: number | null
  seed?: number
  temperature?: number | null
  strength?: number
  length?: number | null
  alternatives?: number
  constraints?: Record<string, unknown>[]
  mode?: "monotone" | "revise" | null
  brief?: string
  commitment?: string | null
  schedule?: string | null
  remasking?: string | null
  drawing?: string | null
  stop_when?: string | null
  top_p?: number | null
  early_answer?: number | null
  guidance?: number | null
}

export interface Hello {
  type: "hello"
  client_id: string
  protocol?: number
  version?: number | null
}

export interface Edit {
  type: "edit"
  op_id: string
  version: number
  updates: UpdateWire[]
  origin?: "typed" | "pasted"
}

/** Add and remove spans against a version; refused whole if any of it cannot be done. */
export interface Spans {
  type: "spans"
  op_id: string
  version: number
  add?: NewSpan[]
  remove?: string[]
}

export interface Refine {
  type: "refine"
  op_id: string
  version: number
  regions?: string[] | "all"
  settings?: RefineSettings
}

export interface Cancel {
  type: "cancel"
  run_id: string
}

export interface Accept {
  type: "accept"
  op_id: string
  suggestion_ids: string[]
  alternatives?: Record<string, number>
  texts?: Record<string, string>
}

export interface Reject {
  type: "reject"
  op_id: string
  suggestion_ids: string[]
}

export interface Restore {
  type: "restore"
  op_id: string
  revision: number
}

/** Write a revision of the text as it stands, under a name; answered with revision_added. */
export interface NameVersion {
  type: "name_version"
  op_id: string
  name: string
}

export interface PingMessage {
  type: "ping"
}

/** Answer to hello: a full snapshot, or (resumed=True) the frames missed follow. */
export interface Welcome {
  type: "welcome"
  document_id: string
  title: string
  epoch: string
  seq: number
  version: number
  hash: string
  resumed: boolean
  text: string | null
  spans: SpanWire[]
  suggestions: SuggestionWire[]
  runs: RunWire[]
  revisions: RevisionWire[]
  updates: UpdateWire[]
  worker: "ready" | "loading" | "down"
}

/** Updates committed to the log, in order; sent to every browser, the author included. */
export interface Edited {
  type: "edited"
  seq: number
  version: number
  updates: UpdateWire[]
  hash: string
  op_id: string | null
  cause: "edit" | "accept" | "restore" | "import"
}

/** All spans at a version; replaces what the browser holds. */
export interface SpansChanged {
  type: "spans_changed"
  seq: number
  version: number
  spans: SpanWire[]
  op_id: string | null
}

export interface RevisionAdded {
  type: "revision_added"
  seq: number
  revision: RevisionWire
  op_id: string | null
}

export interface RunAccepted {
  type: "run_accepted"
  seq: number
  run: RunWire
  op_id: string | null
}

export interface RunRefused {
  type: "run_refused"
  op_id: string | null
  code: string
  message: string
  retryable: boolean
}

export interface RegionFrame {
  span_id: string
  text: string
  settled: [number, number][]
  confidence: number[]
  stable_prefix: number
}

/** Provisional text after a pass. Latest wins, droppable, never stored. */
export interface PassFrame {
  type: "pass_frame"
  run_id: string
  pass: number
  max_passes: number
  regions: RegionFrame[]
  stable_prefix: number
  changed: number
  committed: number
  remasked: number
  mean_confidence: number
  pass_ms: number
}

/** The tide line moved forward; final for this run. */
export interface StablePrefix {
  type: "stable_prefix"
  seq: number
  run_id: string
  span_id: string
  text: string
}

/** A run yields one region and goes on for its others: nothing more comes for this one. */
export interface RegionDropped {
  type: "region_dropped"
  seq: number
  run_id: string
  span_id: string
  reason: string
}

export interface SuggestionAdded {
  type: "suggestion_added"
  seq: number
  suggestion: SuggestionWire
}

export interface SuggestionDecided {
  type: "suggestion_decided"
  seq: number
  suggestion_id: string
  state: "open" | "accepted" | "rejected" | "void"
  op_id: string | null
  reason: string | null
}

export interface RunEnded {
  type: "run_ended"
  seq: number
  run_id: string
  state: "finished" | "cancelled" | "failed"
  stop_reason: string
  passes: number
  tokens_per_pass: number
  total_ms: number
  message: string | null
}

export interface Renamed {
  type: "renamed"
  seq: number
  title: string
}

export interface WorkerState {
  type: "worker_state"
  state: "ready" | "loading" | "down"
  message: string | null
}

/** A message could not be carried out; nothing was changed. */
export interface Problem {
  type: "problem"
  op_id: string | null
  code: string
  message: string
  retryable: boolean
}

export interface PongMessage {
  type: "pong"
  seq: number
}

export type ClientMessage =
  | Hello
  | Edit
  | Spans
  | Refine
  | Cancel
  | Accept
  | Reject
  | Restore
  | NameVersion
  | PingMessage

export type ServerMessage =
  | Welcome
  | Edited
  | SpansChanged
  | RevisionAdded
  | RunAccepted
  | RunRefused
  | PassFrame
  | StablePrefix
  | RegionDropped
  | SuggestionAdded
  | SuggestionDecided
  | RunEnded
  | Renamed
  | WorkerState
  | Problem
  | PongMessage

export const ERROR_CODES = [
  "access_denied",
  "already_decided",
  "checksum_mismatch",
  "conflict",
  "disk_full",
  "editor_error",
  "engine_busy",
  "engine_error",
  "foreign_origin",
  "invalid_change",
  "invalid_input",
  "invalid_job",
  "invalid_offset",
  "invalid_text",
  "lock_violation",
  "model_error",
  "model_missing",
  "not_found",
  "region_busy",
  "region_too_long",
  "span_conflict",
  "stale_version",
  "store_busy",
  "too_large",
  "too_many_regions",
  "unavailable",
  "unfinished",
  "unknown_model",
  "unsatisfiable_constraint",
  "unsupported_format",
  "worker_died",
  "worker_error",
  "worker_refused",
  "worker_unavailable",
] as const
export type ErrorCode = (typeof ERROR_CODES)[number]
