/**
 * What opens beside the text: naming and comparing versions, replay, plain text, origins, keys, tour.
 *
 * Owns which of them is open for the document at hand; `leave` ends what belongs to the one before.
 */

import type { EditorView, ViewUpdate } from "@codemirror/view"
import type { PageCommands } from "./commands"
import type { Decisions } from "./decisions"
import type { HistoryPanel } from "./history_panel"
import { type Later, LaterPart } from "./load_later"
import type { Origins } from "./origins"
import type { PlainText } from "./plain_text"
import { isTourDone, refineSettings } from "./preferences"
import type { RevisionWire } from "./protocol.gen"
import * as rest from "./rest"
import { type OpenSuggestion, openSuggestions } from "./review"
import type { ReviewPanel } from "./review_panel"
import { isActive, type RunRecord } from "./run_model"
import { areUnchanged } from "./run_places"
import type { DocumentSession } from "./session"
import type { Span } from "./spans"

export interface PagesHost {
  readonly view: EditorView
  readonly session: DocumentSession | null
  readonly documentId: string | null
  readonly decisions: Decisions
  readonly paper: HTMLElement
  goToSuggestion(suggestion: OpenSuggestion, group?: number | null): void
  say(text: string): void
  complain(error: unknown): void
}

export class Pages implements PageCommands {
  /** Null until their part of the program is there. */
  history: HistoryPanel | null = null
  review: ReviewPanel | null = null
  private readonly later: LaterPart
  private plain: PlainText | null = null
  private origins: Origins | null = null
  private endTour: (() => void) | null = null

  constructor(private readonly host: PagesHost) {
    this.later = new LaterPart((text) => host.say(text))
  }

  /** Fetches what is opened later, so that it is there when the connection is not. */
  async buildPanels(review: HTMLElement, history: HTMLElement): Promise<void> {
    await this.later.use((part) => {
      this.review = new part.ReviewPanel(review, this.host)
      this.history = new part.HistoryPanel(history, {
        name: () => this.nameVersion(),
        compare: (revision) => this.compareVersions(revision),
        restore: (revision) => this.host.session?.restore(revision.n),
      })
    })
  }

  /** Another document is opened. */
  leave(): void {
    this.origins?.close()
    this.plain?.close()
    this.plain = null
    this.endTour?.()
  }

  noteUpdate(update: ViewUpdate): void {
    this.plain?.noteUpdate(update)
    if (update.docChanged) this.origins?.noteChange()
  }

  /** Redraws what is open. */
  show(): void {
    this.plain?.show()
  }

  // ---- commands

  showShortcuts(): void {
    void this.later.use((part) => part.showShortcuts())
  }

  openRegionSettings(span: Span): void {
    void this.later.use((part) => part.openRegionPopover(this.host.view, span))
  }

  compareAlternatives(suggestionId: string): void {
    const { view, decisions } = this.host
    void this.later.use((part) => part.showAlternatives(view, suggestionId, (id) => decisions.accept([id])))
  }

  nameVersion(): void {
    const { session } = this.host
    if (session === null) return
    session.flush()
    void this.later.use((part) => part.askVersionName(`r${session.version}`, (name) => session.nameVersion(name)))
  }

  showRunCard(element: HTMLElement, runId: string): void {
    void this.later.use((part) => void part.showRunCard(element, runId, (text) => this.host.say(text)))
  }

  /** Once all is saved: what would be final is what the server has. */
  finalise(): void {
    const { session, documentId, view } = this.host
    if (session === null || documentId === null) return
    session.flush()
    if (!["saved", "saving"].includes(session.saveState.kind)) return this.host.say("The text must be saved before it can be final.")
    const show = async (part: Later): Promise<void> => {
      await allSaved(session)
      const numUnfilled = await rest.countUnfilled(documentId)
      const [text, numOpen] = [view.state.doc.toString(), openSuggestions(view.state).length]
      const { version } = session
      part.showFinalise({ documentId, version, text, numUnfilled, numOpen, name: (name) => session.nameVersion(name) })
    }
    void this.later.use((part) => void show(part).catch((error: unknown) => this.host.complain(error)))
  }

  confirmDelete(title: string, remove: () => void): void {
    void this.later.use((part) => part.confirmDelete(title, remove))
  }

  showAbout(): void {
    void this.later.use((part) => part.openAbout())
  }

  compareVersions(first: RevisionWire): void {
    const { documentId, session, view } = this.host
    if (documentId === null || session === null) return
    const host = {
      revisions: [...session.revisions].sort((a, b) => b.n - a.n),
      read: async (revision: RevisionWire | null) => {
        if (revision === null) return { text: view.state.doc.toString(), numOpen: openSuggestions(view.state).length }
        const { text, open_suggestions: open } = await rest.readRevision(documentId, revision.n)
        return { text, numOpen: open.length }
      },
      restore: (revision: RevisionWire) => session.restore(revision.n),
      complain: (error: unknown) => this.host.complain(error),
    }
    void this.later.use((part) => part.showComparison(host, first))
  }

  togglePlain(): void {
    const { view, decisions, paper } = this.host
    if (this.plain === null) void this.later.use((part) => (this.plain ??= part.openPlainText({ view, decisions, paper })))
    else {
      this.plain.close()
      this.plain = null
    }
  }

  toggleOrigins(): void {
    const { view, session, documentId, paper } = this.host
    if (this.origins?.isShown) return this.origins.close()
    if (session === null || documentId === null) return
    session.flush()
    void this.later.use((part) => {
      if (session !== this.host.session) return
      this.origins ??= new part.Origins()
      paper.before(this.origins.element)
      this.origins.open({
        view,
        read: () => rest.readProvenance(documentId),
        settledVersion: () => (session.numUnacknowledged() === 0 ? session.version : null),
        complain: (error) => this.host.complain(error),
      })
    })
  }

  showReplay(): void {
    const { session, say } = this.host
    const run = session?.runs.latest() ?? null
    if (session === null || run === null || run.passes.length === 0) return say.call(this.host, "There is no run to replay yet.")
    if (isActive(run)) return say.call(this.host, "The run is still at work. Replay it when it is done.")
    void this.later.use((part) => this.openReplay(part, run, session))
  }

  takeTour(): void {
    if (this.endTour !== null) return
    const parent = this.host.paper.parentElement
    if (parent === null) return
    void this.later.use((part) => {
      this.endTour ??= part.startTour(parent, () => (this.endTour = null))
    })
  }

  /** On the very first visit, over the sample that shows it all. */
  offerTour(): void {
    if (!isTourDone()) this.takeTour()
  }

  private openReplay(part: Later, run: RunRecord, session: DocumentSession): void {
    const { view } = this.host
    let isAsked = false
    part.showReplay({
      run,
      startBaseline: () => {
        if (!areUnchanged(view.state, run.places)) return "The regions have changed since this run. Refine again to compare."
        if (run.spanIds.some((id) => session.runs.busySpans().has(id))) return "A run already works there."
        isAsked = true
        session.runBaseline([...run.spanIds], refineSettings())
        return null
      },
      stopBaseline: () => session.stopBaseline(),
      baseline: () => (isAsked ? session.runs.baseline() : null),
      listen: (hear) => session.facts.listen(({ kind }) => kind === "baseline" && hear()),
    })
  }
}

/** Resolves once nothing is left to acknowledge. */
function allSaved(session: DocumentSession): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (session.numUnacknowledged() > 0) return
      stop()
      resolve()
    }
    const stop = session.facts.listen(look)
    look()
  })
}
