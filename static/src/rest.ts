/** The HTTP interface the page uses. Offsets over REST are code points, never UTF-16. */

export interface DocumentSummary {
  id: string
  title: string
  version: number
  updated_s: number
}

export interface NewRestSpan {
  kind: "locked" | "region"
  from: number
  to: number
  settings?: Record<string, unknown>
}

export interface RevisionText {
  n: number
  text: string
  /** Ids of the suggestions that were open. */
  open_suggestions: string[]
}

export class RestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

async function call<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = { Accept: "application/json", ...(init.body ? { "Content-Type": "application/json" } : {}) }
  let response: Response
  try {
    response = await fetch(path, { credentials: "same-origin", headers, ...init })
  } catch {
    throw new RestError(0, "offline", "The server cannot be reached.")
  }
  const body: unknown = response.status === 204 ? null : await response.json().catch(() => null)
  if (response.ok) return body as T
  const fault = (body ?? {}) as { code?: string; message?: string }
  throw new RestError(response.status, fault.code ?? "internal_error", fault.message ?? "The server refused.")
}

type MadeDocument = Omit<DocumentSummary, "updated_s">

const justMade = ({ id, title, version }: MadeDocument): DocumentSummary => ({
  id,
  title,
  version,
  updated_s: Date.now() / 1000,
})

const at = (id: string): string => `/api/documents/${encodeURIComponent(id)}`

export async function listDocuments(): Promise<DocumentSummary[]> {
  const { documents } = await call<{ documents: DocumentSummary[] }>("/api/documents")
  return documents
}

export async function createDocument(document: {
  title: string
  text: string
  spans?: NewRestSpan[]
}): Promise<DocumentSummary> {
  return justMade(await call<MadeDocument>("/api/documents", { method: "POST", body: JSON.stringify(document) }))
}

export function renameDocument(id: string, title: string): Promise<unknown> {
  return call(at(id), { method: "PATCH", body: JSON.stringify({ title }) })
}

export function deleteDocument(id: string): Promise<unknown> {
  return call(at(id), { method: "DELETE" })
}

export function readRevision(id: string, n: number): Promise<RevisionText> {
  return call(`${at(id)}/revisions/${n}`)
}

/** How many places keep the text from being final. */
export async function countUnfilled(id: string): Promise<number> {
  const { unfilled } = await call<{ unfilled: unknown[] }>(`${at(id)}/unfilled`)
  return unfilled.length
}

/** A run as the server keeps it: counts, settings and times. */
export interface RunReport {
  readonly state: string
  readonly stop_reason: string | null
  readonly passes: number
  readonly max_passes: number
  readonly run_card: Readonly<Record<string, unknown>> | null
  readonly telemetry: { readonly tokens_per_pass: number; readonly timings: Readonly<Record<string, number>> | null }
}

export function readRun(id: string): Promise<RunReport> {
  return call(`/api/runs/${encodeURIComponent(id)}`)
}

/** Where a stretch of text came from; offsets are code points. */
export interface OriginRun {
  readonly from: number
  readonly to: number
  readonly origin: "typed" | "pasted" | "import" | "template" | "model" | "restore"
}

export function readProvenance(id: string): Promise<{ version: number; runs: OriginRun[] }> {
  return call(`${at(id)}/provenance`)
}

export async function importFile(file: File): Promise<DocumentSummary> {
  const content = await toBase64(file)
  const body = JSON.stringify({ content, filename: file.name, encoding: "base64" })
  return justMade(await call<MadeDocument>("/api/import", { method: "POST", body }))
}

export const EXPORT_FORMATS = [
  { format: "txt", words: "Plain text" },
  { format: "md", words: "Markdown" },
  { format: "docx", words: "Word" },
  { format: "html", words: "Web page" },
  { format: "json", words: "JSON, with history" },
] as const

export function exportUrl(id: string, format: string, isFinal = false): string {
  return `${at(id)}/export?format=${format}${isFinal ? "&final=true" : ""}`
}

async function toBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  const parts: string[] = []
  for (let start = 0; start < bytes.length; start += 0x8000) {
    parts.push(String.fromCharCode(...bytes.subarray(start, start + 0x8000)))
  }
  return btoa(parts.join(""))
}
