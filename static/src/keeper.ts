/**
 * Keeps what the server has not acknowledged on the device, and brings it back.
 *
 * Owns the browser's client id, the last confirmed text and when to write to the outbox. Must not
 * know the socket. `base` is always the server's text at the synced version.
 */

import { getSyncedVersion, sendableUpdates } from "@codemirror/collab"
import { ChangeSet, type EditorState, type Text } from "@codemirror/state"
import type { EditorView } from "@codemirror/view"
import { announceLife, type Orphan, Outbox, type OutboxRecord, randomId } from "./outbox"
import type { OpUnderWay } from "./sender"

export class Keeper {
  clientId = randomId()
  /** Null until the first text came. */
  base: Text | null = null
  /** Whether the last write to the device went well. */
  isKept = true
  private readonly outbox = new Outbox()
  private keptVersion = -1
  private endLife: () => void = () => undefined

  constructor(
    private readonly documentId: string,
    private readonly noteTrouble: () => void,
  ) {}

  /** What closed tabs left of this document; the first may be adopted, the others copied. */
  async orphans(): Promise<Orphan[]> {
    return this.outbox.orphans(this.documentId).catch(() => [])
  }

  /** Tells other tabs that this client lives; call once its id is final. */
  beginLife(): void {
    this.endLife = announceLife(this.clientId)
  }

  end(): void {
    this.endLife()
  }

  /** Shows an orphan's text in `view`, unsent edits and all. */
  adopt({ record, base }: Orphan, view: EditorView, makeState: (text: string, version: number) => EditorState): void {
    this.clientId = record.clientId
    const state = makeState(base.text, base.version)
    view.setState(state)
    for (const changes of record.changes) {
      view.dispatch({ changes: ChangeSet.fromJSON(changes), userEvent: "input", filter: false })
    }
    this.base = state.doc
    this.keptVersion = record.version
  }

  begin(text: Text): void {
    this.base = text
    this.forget()
  }

  confirm(changes: ChangeSet): void {
    if (this.base !== null) this.base = changes.apply(this.base)
  }

  /** Writes what is unacknowledged, or clears it when nothing is. */
  keep(state: EditorState, op: OpUnderWay | null): void {
    const updates = sendableUpdates(state)
    if (updates.length === 0) {
      this.forget()
      return
    }
    const version = getSyncedVersion(state)
    const record: OutboxRecord = {
      clientId: this.clientId,
      documentId: this.documentId,
      version,
      changes: updates.map((update) => update.changes.toJSON() as unknown),
      opId: op?.kind === "edit" ? op.opId : null,
      opLength: op?.kind === "edit" ? op.numUpdates : 0,
      savedAt: Date.now(),
    }
    const isNewBase = version !== this.keptVersion
    const base = isNewBase ? { clientId: this.clientId, version, text: this.base?.toString() ?? "" } : null
    this.keptVersion = version
    this.outbox.keep(record, base).then(
      () => this.note(true),
      () => this.note(false),
    )
  }

  forgetOrphan(clientId: string): Promise<void> {
    return this.outbox.forget(clientId)
  }

  private note(isKept: boolean): void {
    const isNews = isKept !== this.isKept
    this.isKept = isKept
    if (isNews) this.noteTrouble()
  }

  private forget(): void {
    if (this.keptVersion === -1) return
    this.keptVersion = -1
    this.outbox.forget(this.clientId).catch(() => undefined)
  }
}

/** The text an orphan stands for, as a document of its own would hold it. */
export function textOf({ record, base }: Orphan, toText: (text: string) => Text): string {
  return record.changes
    .map((changes) => ChangeSet.fromJSON(changes))
    .reduce((text, changes) => changes.apply(text), toText(base.text))
    .toString()
}

/** SHA-256 of a text in UTF-8 as hex; null where the browser has none (plain HTTP on a network). */
export async function hashOf(text: string): Promise<string | null> {
  if (crypto.subtle === undefined) return null
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}
