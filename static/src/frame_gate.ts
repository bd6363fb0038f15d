/**
 * Holds frames back while an input method composes: a remote change would break the composition.
 *
 * Frames pass in order; one that waits makes all after it wait. Owns the limit of the wait.
 */

import type { ServerMessage } from "./protocol.gen"

const COMPOSITION_LIMIT_MS = 10_000

export class FrameGate {
  private readonly held: ServerMessage[] = []
  private timer: number | undefined

  constructor(
    private readonly isComposing: () => boolean,
    private readonly apply: (message: ServerMessage) => void,
  ) {}

  receive(message: ServerMessage): void {
    const mustWait = this.isComposing() && (message.type === "edited" || message.type === "pass_frame")
    if (!mustWait && this.held.length === 0) return this.apply(message)
    this.held.push(message)
    // An input method may never say that it is done.
    window.clearTimeout(this.timer)
    this.timer = window.setTimeout(() => this.release(), COMPOSITION_LIMIT_MS)
  }

  /** The composition is over. */
  release(): void {
    window.clearTimeout(this.timer)
    for (const message of this.held.splice(0)) this.apply(message)
  }

  close(): void {
    window.clearTimeout(this.timer)
  }
}
