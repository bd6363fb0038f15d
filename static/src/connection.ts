/**
 * The websocket of one document: opens it, opens it again after it broke, notices when it is dead.
 *
 * Owns reconnecting and heartbeats; must not know what frames mean. Frames arrive in order;
 * nothing is queued here, because what is unsent belongs to the outbox.
 */

import type { ClientMessage, ServerMessage } from "./protocol.gen"

export type LinkState = "connecting" | "open" | "waiting" | "denied" | "gone"

export interface ConnectionListener {
  /** The first frame to send on a fresh socket. */
  greet(): ClientMessage
  receive(message: ServerMessage): void
  changeLink(state: LinkState): void
}

const FIRST_RETRY_MS = 250
const LAST_RETRY_MS = 8_000
const PING_EVERY_MS = 10_000
const SILENCE_LIMIT_MS = 24_000
const THAW_LIMIT_MS = 4_000

export class Connection {
  private socket: WebSocket | null = null
  private retryMs = FIRST_RETRY_MS
  private retryTimer: number | undefined
  private readonly heartbeat: number
  private lastHeardAt = 0
  private isClosed = false

  constructor(
    private readonly url: () => string,
    private readonly probeUrl: string,
    private readonly listener: ConnectionListener,
  ) {
    this.heartbeat = window.setInterval(() => this.checkPulse(SILENCE_LIMIT_MS), PING_EVERY_MS)
    window.addEventListener("online", this.wake)
    window.addEventListener("offline", this.lose)
    document.addEventListener("visibilitychange", this.wake)
    this.open()
  }

  /** Returns false when there is no open socket; the caller keeps the message. */
  send(message: ClientMessage): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false
    this.socket.send(JSON.stringify(message))
    return true
  }

  /** Ends this socket and opens a new one, which greets afresh. */
  restart(): void {
    this.drop()
    this.open()
  }

  close(): void {
    this.isClosed = true
    window.clearInterval(this.heartbeat)
    window.clearTimeout(this.retryTimer)
    window.removeEventListener("online", this.wake)
    window.removeEventListener("offline", this.lose)
    document.removeEventListener("visibilitychange", this.wake)
    this.drop()
  }

  private open(): void {
    if (this.isClosed) return
    window.clearTimeout(this.retryTimer)
    this.listener.changeLink("connecting")
    const socket = new WebSocket(this.url())
    this.socket = socket
    socket.addEventListener("open", () => {
      if (socket !== this.socket) return
      this.lastHeardAt = Date.now()
      socket.send(JSON.stringify(this.listener.greet()))
    })
    socket.addEventListener("message", (event: MessageEvent<string>) => {
      if (socket !== this.socket) return
      this.lastHeardAt = Date.now()
      this.retryMs = FIRST_RETRY_MS
      this.listener.receive(JSON.parse(event.data) as ServerMessage)
    })
    socket.addEventListener("close", () => {
      if (socket === this.socket) this.retryLater()
    })
  }

  private drop(): void {
    const socket = this.socket
    this.socket = null
    socket?.close()
  }

  private retryLater(): void {
    this.socket = null
    if (this.isClosed) return
    this.listener.changeLink("waiting")
    const waitMs = this.retryMs * (0.75 + Math.random() / 2)
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS)
    this.retryTimer = window.setTimeout(() => void this.probeThenOpen(), waitMs)
  }

  /** A refused handshake looks like a lost network to a browser; plain HTTP tells them apart. */
  private async probeThenOpen(): Promise<void> {
    const status = await fetch(this.probeUrl, { credentials: "same-origin" }).then(
      (response) => response.status,
      () => 0,
    )
    if (this.isClosed || this.socket) return
    if (status === 401 || status === 403) this.listener.changeLink("denied")
    if (status === 404) this.listener.changeLink("gone")
    if (status === 200) this.open()
    else this.scheduleProbe()
  }

  private scheduleProbe(): void {
    this.retryMs = Math.min(this.retryMs * 2, LAST_RETRY_MS)
    this.retryTimer = window.setTimeout(() => void this.probeThenOpen(), this.retryMs)
  }

  private checkPulse(limitMs: number): void {
    if (!this.send({ type: "ping" })) return
    if (Date.now() - this.lastHeardAt > limitMs) this.lose()
  }

  private readonly wake = (): void => {
    if (document.visibilityState === "hidden") return
    if (this.socket === null) {
      window.clearTimeout(this.retryTimer)
      void this.probeThenOpen()
      return
    }
    // A frozen tab wakes with a socket that only looks open: it must answer soon.
    const askedAt = Date.now()
    if (!this.send({ type: "ping" })) return
    window.setTimeout(() => {
      if (this.lastHeardAt < askedAt) this.lose()
    }, THAW_LIMIT_MS)
  }

  private readonly lose = (): void => {
    if (this.socket === null) return
    this.drop()
    this.retryLater()
  }
}
