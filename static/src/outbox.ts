/**
 * Unacknowledged edits, kept in IndexedDB so that they survive a closed tab or a lost network.
 *
 * Per browser tab and document: the last text the server confirmed with its version (`base`), and
 * the change sets made since. What a closed tab left behind is adopted by the next tab that opens
 * the document. Owns the device's store; must not know the editor or the socket.
 */

export interface OutboxRecord {
  clientId: string
  documentId: string
  version: number
  /** CodeMirror change sets, in order, against the base text. */
  changes: unknown[]
  /** The op under way when this was written; sent again under the same id it applies once. */
  opId: string | null
  /** How many of `changes` belong to `opId`. */
  opLength: number
  savedAt: number
}

/** The text that the server confirmed at `version`. */
export interface OutboxBase {
  clientId: string
  version: number
  text: string
}

export interface Orphan {
  record: OutboxRecord
  base: OutboxBase
}

const DATABASE = "tideline"
const RECORDS = "records"
const BASES = "bases"

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1)
    request.onupgradeneeded = () => {
      request.result.createObjectStore(RECORDS, { keyPath: "clientId" })
      request.result.createObjectStore(BASES, { keyPath: "clientId" })
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error("the device's store did not open"))
    request.onblocked = () => reject(new Error("the device's store is held by another tab"))
  })
}

function settle<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error("the device's store refused"))
  })
}

function finish(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error ?? new Error("the device's store refused"))
  })
}

export class Outbox {
  private opening: Promise<IDBDatabase> | null = null
  private opened: IDBDatabase | null = null

  /** Resolves once both are on the device. `base` is given when its version is new. */
  keep(record: OutboxRecord, base: OutboxBase | null): Promise<void> {
    return this.inOrder((transaction) => {
      if (base !== null) transaction.objectStore(BASES).put(base)
      transaction.objectStore(RECORDS).put(record)
    })
  }

  forget(clientId: string): Promise<void> {
    return this.inOrder((transaction) => {
      transaction.objectStore(RECORDS).delete(clientId)
      transaction.objectStore(BASES).delete(clientId)
    })
  }

  /** What tabs that are gone left of this document, oldest first. */
  async orphans(documentId: string): Promise<Orphan[]> {
    const database = await this.open()
    const transaction = database.transaction([RECORDS, BASES], "readonly")
    const records = (await settle(transaction.objectStore(RECORDS).getAll())) as OutboxRecord[]
    const bases = (await settle(transaction.objectStore(BASES).getAll())) as OutboxBase[]
    const alive = await livingClients()
    return records
      .filter((record) => record.documentId === documentId && !alive.has(record.clientId))
      .sort((a, b) => a.savedAt - b.savedAt)
      .flatMap((record) => {
        const base = bases.find((one) => one.clientId === record.clientId)
        return base !== undefined && base.version === record.version ? [{ record, base }] : []
      })
  }

  /**
   * Begins the transaction at once where the store is open: what a page that goes away has begun and
   * committed is still written, what waits behind a promise is not. The store keeps their order.
   */
  private inOrder(act: (transaction: IDBTransaction) => void): Promise<void> {
    if (this.opened !== null) return write(this.opened, act)
    return this.open().then((database) => write(database, act))
  }

  private open(): Promise<IDBDatabase> {
    this.opening ??= openDatabase().then(
      (database) => {
        const reopenNext = (): void => {
          this.opened = this.opening = null
        }
        database.onclose = reopenNext
        this.opened = database
        return database
      },
      (reason: unknown) => {
        this.opening = null
        throw reason
      },
    )
    return this.opening
  }
}

/** Resolves once what `act` asks for is on the device. */
async function write(database: IDBDatabase, act: (transaction: IDBTransaction) => void): Promise<void> {
  const transaction = database.transaction([RECORDS, BASES], "readwrite")
  act(transaction)
  const finished = finish(transaction)
  transaction.commit()
  await finished
}

const lockName = (clientId: string): string => `tideline:${clientId}`

/** Holds a lock until the result is called or the tab ends, so that other tabs can tell. */
export function announceLife(clientId: string): () => void {
  if (!("locks" in navigator)) return () => undefined
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  void navigator.locks.request(lockName(clientId), () => held)
  return release
}

async function livingClients(): Promise<Set<string>> {
  if (!("locks" in navigator)) return new Set()
  const { held } = await navigator.locks.query()
  const prefix = lockName("")
  const names = (held ?? []).map((lock) => lock.name ?? "").filter((name) => name.startsWith(prefix))
  return new Set(names.map((name) => name.slice(prefix.length)))
}

export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
}
