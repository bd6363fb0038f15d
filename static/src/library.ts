/**
 * The list of documents, and what makes, brings in, renames and deletes one over HTTP.
 *
 * Owns the list; must not know the editor. Every failure goes to `complain`, none is swallowed.
 */

import * as rest from "./rest"

export interface LibraryHost {
  complain(error: unknown): void
}

export class Library {
  documents: rest.DocumentSummary[] = []

  constructor(private readonly host: LibraryHost) {}

  /** Reads the list; the very first start makes the sample. Returns whether it did. */
  async load(): Promise<boolean> {
    try {
      this.documents = await rest.listDocuments()
      if (this.documents.length > 0) return false
      this.documents = [await rest.createDocument((await fetchSample()).sampleDocument())]
      return true
    } catch (error) {
      this.host.complain(error)
      return false
    }
  }

  find(id: string | undefined | null): rest.DocumentSummary | undefined {
    return this.documents.find((one) => one.id === id)
  }

  newest(): rest.DocumentSummary | undefined {
    return this.documents.reduce<rest.DocumentSummary | undefined>(
      (newest, one) => (newest === undefined || one.updated_s > newest.updated_s ? one : newest),
      undefined,
    )
  }

  /** Makes a document; resolves to its id, or null when that failed. */
  async create(document: { title: string; text: string }): Promise<string | null> {
    return this.add(() => rest.createDocument(document))
  }

  async importFile(file: File): Promise<string | null> {
    return this.add(() => rest.importFile(file))
  }

  /** A copy of text that could not go where it was written. Rejects when it cannot be made. */
  async keepCopy(title: string, text: string): Promise<string> {
    const copy = await rest.createDocument({ title, text })
    this.documents.push(copy)
    return copy.id
  }

  async remove(id: string): Promise<boolean> {
    return this.attempt(async () => {
      await rest.deleteDocument(id)
      this.documents = this.documents.filter((one) => one.id !== id)
    })
  }

  async rename(id: string, title: string): Promise<boolean> {
    return this.attempt(async () => {
      await rest.renameDocument(id, title)
    })
  }

  noteTitle(id: string | null, title: string): void {
    const entry = this.find(id)
    if (entry !== undefined && title !== "") entry.title = title
  }

  noteEdited(id: string | null): void {
    const entry = this.find(id)
    if (entry !== undefined) entry.updated_s = Date.now() / 1000
  }

  private async add(make: () => Promise<rest.DocumentSummary>): Promise<string | null> {
    try {
      const made = await make()
      this.documents.push(made)
      return made.id
    } catch (error) {
      this.host.complain(error)
      return null
    }
  }

  private async attempt(act: () => Promise<void>): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      this.host.complain(error)
      return false
    }
  }
}

/** Needed once in the life of a library, so it is a file of its own. */
function fetchSample(): Promise<typeof import("./sample")> {
  return import("./sample").catch((error: unknown) => {
    throw new rest.RestError(0, "offline", String(error))
  })
}
