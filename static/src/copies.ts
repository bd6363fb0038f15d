/**
 * Copies of text that cannot go where it was written: a document of their own, or a last dialog.
 *
 * Owns which copy is told of and what was copied already, so that nothing is copied twice.
 */

import type { Keeper } from "./keeper"
import { textOf } from "./keeper"
import type { Orphan } from "./outbox"
import type { Text } from "@codemirror/state"

export interface CopyHost {
  /** Keeps a copy of text as a document of its own; resolves to its id. */
  keepCopy(title: string, text: string): Promise<string>
  /** No copy could be made: the person must take the text. */
  showUnsent(text: string): void
}

export class Copies {
  /** The document that holds the newest copy, until it is dismissed. */
  newest: string | null = null
  private copied: string | null = null

  constructor(private readonly host: CopyHost) {}

  isCopied(text: string): boolean {
    return text === this.copied
  }

  /** Keeps a copy of what the server would not take. */
  async keep(title: string, text: string): Promise<void> {
    this.copied = text
    try {
      this.newest = await this.host.keepCopy(`${title || "Untitled"} (your copy)`, text)
    } catch {
      this.host.showUnsent(text)
    }
  }

  /** Keeps what a closed tab left; it stays on the device until a copy is made. */
  async recover(orphan: Orphan, keeper: Keeper, toText: (plain: string) => Text): Promise<void> {
    try {
      this.newest = await this.host.keepCopy("Recovered text", textOf(orphan, toText))
      await keeper.forgetOrphan(orphan.record.clientId)
    } catch {
      // Stays on the device until a copy can be made.
    }
  }
}
