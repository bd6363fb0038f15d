/** One event, many listeners. */
export class Emitter<T> {
  private readonly listeners = new Set<(value: T) => void>()

  /** Calls `listener` on every event; the result ends it. */
  listen(listener: (value: T) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  emit(value: T): void {
    for (const listener of [...this.listeners]) listener(value)
  }
}
