/** Compares the shown text's hash with the server's once typing rests: what is shown must be stored. */

import { hashOf } from "./keeper"

const REST_MS = 800

export interface CheckHost {
  /** The server's text as known here, at its version; null before there is one. */
  known(): { text: string; version: number } | null
  /** The two differ. */
  differ(): void
}

export class TextCheck {
  private timer: number | undefined

  constructor(private readonly host: CheckHost) {}

  later(version: number, hash: string): void {
    this.stop()
    this.timer = window.setTimeout(() => void this.check(version, hash), REST_MS)
  }

  stop(): void {
    window.clearTimeout(this.timer)
  }

  private async check(version: number, hash: string): Promise<void> {
    const known = this.host.known()
    if (known?.version !== version) return
    const mine = await hashOf(known.text)
    if (mine !== null && mine !== hash && this.host.known()?.version === version) this.host.differ()
  }
}
