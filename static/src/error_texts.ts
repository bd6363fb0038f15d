/** What a person is told for every error code. The server's own message is added as detail. */

import type { ErrorCode } from "./protocol.gen"

const TEXTS: Record<ErrorCode, string> = {
  access_denied: "Your access has ended. Open the link the server printed; your text stays here.",
  already_decided: "That suggestion was decided before.",
  checksum_mismatch: "The model's file is damaged. Fetch it again with `python app.py model pull`.",
  conflict: "The document has moved on. Try again.",
  disk_full: "The disk is full. Nothing was lost; make room and try again.",
  editor_error: "The server could not do that.",
  engine_busy: "The engine is busy. Try again in a moment.",
  engine_error: "The engine could not do that.",
  foreign_origin: "This address may not connect. The server's settings list which may.",
  invalid_change: "The server could not read an edit. A copy of your text was kept.",
  invalid_input: "A setting is not usable.",
  invalid_job: "The engine cannot work on this text.",
  invalid_offset: "That range cuts a character in two. Select whole characters.",
  invalid_text: "The text holds a character that cannot be stored.",
  lock_violation: "Locked text stays as it is.",
  model_error: "The model could not be used.",
  model_missing: "The model is not there yet. Fetch it with `python app.py model pull`.",
  not_found: "That is no longer there.",
  region_busy: "A run already works on that region.",
  region_too_long: "The region is too long for one run. Mark a shorter one.",
  span_conflict: "A lock and a region may not cross, and regions may not overlap.",
  stale_version: "The document has moved on. Try again.",
  store_busy: "Another instance holds the database.",
  too_large: "That is larger than the limit.",
  too_many_regions: "Too many regions for one run. Refine some of them.",
  unavailable: "The server cannot do that now. Try again.",
  unfinished: "Some places are not filled yet. Fill them, or export a draft.",
  unknown_model: "The server does not know this model.",
  unsatisfiable_constraint: "No text can satisfy the region's rules.",
  unsupported_format: "Files of this kind cannot be read.",
  worker_died: "The engine stopped and is being started again. Your text is safe; refine again.",
  worker_error: "The engine had a fault.",
  worker_refused: "The engine refused the connection.",
  worker_unavailable: "The engine is not running yet. Your text is safe.",
}

export function errorText(code: string): string | null {
  return code in TEXTS ? TEXTS[code as ErrorCode] : null
}

/** One sentence for a person, and the server's reason where it adds something. */
export function explain(code: string, message: string): string {
  const text = errorText(code)
  if (text === null) return message
  return message === "" ? text : `${text} (${message})`
}
