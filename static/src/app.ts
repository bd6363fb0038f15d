/**
 * The application: opens documents, wires sessions to panels, and says what happens.
 *
 * Owns the one editor view and the list of documents; a session owns the document. Panels are
 * redrawn at most once per frame, from facts, and never take the focus.
 */

import { EditorView, type ViewUpdate } from "@codemirror/view"
import type { Announcer } from "./announcer"
import { buildCommands, goToSuggestion, refineTargets } from "./commands"
import { Decisions } from "./decisions"
import { showUnsent } from "./dialogs"
import { Dock } from "./dock"
import { DocumentsPanel } from "./documents_panel"
import { button, h } from "./dom"
import { type EditorHost, makeState, makeView } from "./editor"
import { explain } from "./error_texts"
import { buildLayout } from "./layout"
import { type Commands, runShortcut } from "./keys"
import { refusalOf } from "./locks"
import { refill } from "./refill"
import * as rest from "./rest"
import { changeSettings } from "./region_settings"
import { type OpenSuggestion, openSuggestions } from "./review"
import { rememberedRun, rememberRun } from "./run_memory"
import { RunPanel } from "./run_panel"
import { Library } from "./library"
import { leftWords, narrateRun } from "./narration"
import { linkAlarm, wordCount } from "./page_words"
import { Pages } from "./pages"
import { isOwnEdit } from "./sender"
import { DocumentSession } from "./session"
import type { SessionFact } from "./session_facts"
import { removeSpan, type Span, spansTouching } from "./spans"
import { buildTabs } from "./tabs"
import { buildToolbar } from "./toolbar"

const PANEL_GAP_MS = 120
const OPENED_WORDS = "Document open."
const NO_SUCH_DOCUMENT = "The document of this link is not here. It may have been deleted."

/** The document named in the address. */
const askedId = (): string | undefined => /^#\/d\/(.+)$/.exec(location.hash)?.[1]

export class App {
  session: DocumentSession | null = null
  readonly view: EditorView
  readonly decisions: Decisions
  readonly pages: Pages
  private readonly layout = buildLayout()
  private readonly editorHost: EditorHost
  private readonly toolbar: ReturnType<typeof buildToolbar>
  private readonly documentsPanel: DocumentsPanel
  private readonly runPanel: RunPanel
  private readonly review = h("section", { class: "tl-panel", "aria-label": "Review" })
  private readonly history = h("section", { class: "tl-panel", "aria-label": "History" })
  private readonly dock: Dock
  private readonly tabs: ReturnType<typeof buildTabs>
  private readonly library = new Library({ complain: (error) => this.complain(error) })
  documentId: string | null = null
  private isDrawDue = false
  private panelTimer: number | undefined
  private openings = 0
  /** Who made a document writes in it as soon as it is there. */
  private takesFocus = false
  private numOpen = 0
  private openedWords = OPENED_WORDS

  constructor(root: HTMLElement) {
    const { layout } = this
    const commands = buildCommands(this)
    this.decisions = new Decisions(this)
    this.pages = new Pages(this)
    this.editorHost = {
      commands,
      review: this.decisions,
      noteUpdate: (update) => this.noteUpdate(update),
      noteCompositionEnd: () => this.session?.noteCompositionEnd(),
    }
    this.view = makeView(layout.paper, makeState(this.editorHost, "", { startVersion: 0, clientID: "none" }))
    this.toolbar = buildToolbar(layout, commands, () => this.pages.takeTour())
    this.documentsPanel = new DocumentsPanel(layout.documents, {
      open: (id) => void this.open(id),
      create: () => void this.create({ title: "", text: "" }),
      importFile: (file) => void this.importFile(file),
      deleteOpen: () => {
        const { documentId, session } = this
        if (documentId !== null) this.pages.confirmDelete(session?.title || "Untitled", () => void this.remove(documentId))
      },
      finalise: () => {
        this.layout.closeSheets()
        this.pages.finalise()
      },
      showAbout: () => {
        this.layout.closeSheets()
        this.pages.showAbout()
      },
    })
    this.runPanel = new RunPanel({
      goTo: (span) => this.goTo(span),
      changeSettings: (id, change) => changeSettings(this.view, id, change),
      showReplay: () => this.pages.showReplay(),
      showRunCard: (element, runId) => this.pages.showRunCard(element, runId),
      removeSpan: (id) => this.view.dispatch({ effects: removeSpan.of(id) }),
    })
    this.tabs = buildTabs("Runs, review and history", [
      { name: "Refine", panel: this.runPanel.element },
      { name: "Review", panel: this.review },
      { name: "History", panel: this.history },
    ])
    layout.panels.append(this.tabs.element)
    this.dock = new Dock(layout.dock, {
      stop: () => this.session?.stop(),
      togglePause: () => void commands.pauseView(),
      review: () => {
        this.tabs.select("Review")
        commands.nextSuggestion()
      },
      acceptAll: () => this.decisions.acceptAll(),
    })
    this.listen(commands)
    root.replaceChildren(layout.root)
  }

  async start(): Promise<void> {
    const isFirstVisit = await this.library.load()
    const asked = this.library.find(askedId())
    const shown = asked ?? this.library.newest()
    if (asked === undefined && askedId() !== undefined) this.openedWords = NO_SUCH_DOCUMENT
    if (shown !== undefined) await this.open(shown.id)
    if (isFirstVisit) this.pages.offerTour()
    void this.pages.buildPanels(this.review, this.history).then(() => this.drawSoon())
    this.drawSoon()
  }

  // ---- what commands use

  get announcer(): Announcer {
    return this.layout.announcer
  }

  get paper(): HTMLElement {
    return this.layout.paper
  }

  compareAlternatives(suggestionId: string): void {
    this.pages.compareAlternatives(suggestionId)
  }

  say(text: string): void {
    this.layout.announcer.say(text)
  }

  closePopups(): boolean {
    return this.layout.closeSheets()
  }

  // ---- documents

  private async open(id: string, takesFocus = false): Promise<void> {
    if (id === this.documentId) {
      this.layout.closeSheets()
      return
    }
    const opening = ++this.openings
    this.pages.leave()
    this.session?.close()
    this.documentId = id
    this.takesFocus = takesFocus
    this.numOpen = 0
    this.layout.announcer.alarm("run", "") // it was about the other document
    history.replaceState(null, "", `#/d/${id}`)
    const session = new DocumentSession({
      documentId: id,
      makeState: (text, version, clientId) =>
        makeState(this.editorHost, text, { startVersion: version, clientID: clientId }),
      view: this.view,
      keepCopy: (title, text) => this.library.keepCopy(title, text),
    })
    this.view.setState(makeState(this.editorHost, "", { startVersion: 0, clientID: "none" }))
    this.session = session
    session.facts.listen((fact) => {
      if (session === this.session) this.hear(fact, session)
    })
    this.layout.closeSheets()
    this.drawSoon()
    await session.start()
    if (opening !== this.openings) session.close()
  }

  /** A link to another document was followed, or typed into the address. */
  private async followLink(): Promise<void> {
    const asked = askedId()
    if (asked === undefined || asked === this.documentId) return
    if (this.library.find(asked) === undefined) await this.library.load() // it may be newer than the list
    if (this.library.find(asked) !== undefined) return this.open(asked)
    this.say(NO_SUCH_DOCUMENT)
    if (this.documentId !== null) history.replaceState(null, "", `#/d/${this.documentId}`)
  }

  private async create(document: { title: string; text: string }): Promise<void> {
    const id = await this.library.create(document)
    if (id === null) return
    await this.open(id, true)
  }

  private async importFile(file: File): Promise<void> {
    const id = await this.library.importFile(file)
    if (id === null) return
    await this.open(id)
    this.say("File imported.")
  }

  /** Deletes a document; the newest of the others takes its place, or a fresh one. */
  private async remove(id: string): Promise<void> {
    // First, or the open session would report its document as lost.
    this.session?.close()
    this.session = null
    this.documentId = null
    if (!(await this.library.remove(id))) {
      this.openedWords = this.layout.announcer.status.textContent ?? OPENED_WORDS // the reason stays
      await this.open(id)
      return
    }
    this.openedWords = "Document deleted."
    const next = this.library.newest()
    if (next === undefined) await this.create({ title: "", text: "" })
    else await this.open(next.id, true)
  }

  private async rename(): Promise<void> {
    const { documentId, session } = this
    const title = this.layout.title.value.trim()
    if (documentId === null || session === null || title === session.title) return
    if (!(await this.library.rename(documentId, title))) return
    session.title = title
    this.drawSoon()
  }

  // ---- review

  goToSuggestion(suggestion: OpenSuggestion, group?: number | null): void {
    this.layout.closeSheets()
    goToSuggestion(this.view, suggestion, group)
  }

  private goTo(span: Span): void {
    this.layout.closeSheets()
    this.view.dispatch({
      selection: { anchor: span.from, head: span.to },
      effects: EditorView.scrollIntoView(span.from, { y: "center" }),
    })
    this.view.focus()
  }

  // ---- facts

  private listen(commands: Commands): void {
    const { layout } = this
    layout.title.addEventListener("change", () => void this.rename())
    layout.title.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return
      event.preventDefault() // or the line break would land in the text
      this.view.focus()
    })
    window.addEventListener("hashchange", () => void this.followLink())
    window.addEventListener("beforeunload", (event) => {
      this.session?.flush()
      if ((this.session?.numUnacknowledged() ?? 0) > 0) event.preventDefault()
    })
    document.addEventListener("visibilitychange", () => this.session?.flush())
    document.addEventListener("keydown", (event) => {
      // Keys that must work wherever the focus is; the editor has taken its own by now.
      if (event.defaultPrevented || document.querySelector("dialog[open], :popover-open")) return
      if (runShortcut(event, commands)) event.preventDefault()
    })
  }

  private hear(fact: SessionFact, session: DocumentSession): void {
    const { announcer } = this.layout
    switch (fact.kind) {
      case "opened":
        this.say(this.openedWords)
        this.openedWords = OPENED_WORDS
        if (this.takesFocus) this.focusText()
        break
      case "run_began":
        if (this.documentId !== null) rememberRun(this.documentId, fact.run.runId)
        this.tabs.select("Refine")
        break
      case "run_over":
        if (openSuggestions(this.view.state).length > 0) this.tabs.select("Review")
        break
      case "note":
        this.say(fact.message)
        break
      case "trouble":
        this.say(explain(fact.code, fact.message))
        break
      case "unsent":
        showUnsent(fact.message, fact.text)
        break
      case "link":
        announcer.alarm("link", linkAlarm(fact.link))
        break
      case "edited":
        this.library.noteEdited(this.documentId)
        break
      case "pass":
      case "baseline":
      case "changed":
        break
    }
    this.countOpen()
    narrateRun(fact, announcer, this.numOpen)
    this.library.noteTitle(this.documentId, session.title)
    this.drawSoon()
  }

  private focusText(): void {
    this.draw() // what is hidden takes no focus
    this.view.focus()
  }

  /** "2 suggestions" must not stand where fewer are left. */
  private countOpen(): void {
    const before = this.numOpen
    this.numOpen = openSuggestions(this.view.state).length
    if (this.numOpen < before) this.layout.announcer.replaceOutcome(leftWords(this.numOpen))
  }

  private noteUpdate(update: ViewUpdate): void {
    this.session?.noteUpdate(update)
    this.pages.noteUpdate(update)
    // At once, not with the next frame: "Saved" must not stand beside text that is not.
    if (this.session !== null) this.drawSaveWords(this.session)
    if (update.transactions.some(isOwnEdit)) this.layout.announcer.replaceOutcome("")
    for (const transaction of update.transactions) {
      const refusal = refusalOf(transaction)
      if (refusal !== null) this.say(refusal)
      if (transaction.isUserEvent("span.resize")) this.say("Region resized.")
    }
    if (update.docChanged || update.selectionSet || update.transactions.length > 0) this.drawSoon()
  }

  complain(error: unknown): void {
    if (error instanceof rest.RestError) this.say(explain(error.code, error.status === 0 ? "" : error.message))
    else throw error
  }

  // ---- drawing

  /** What stands beside the caret's work with the next frame, lists once typing rests a moment. */
  private drawSoon(): void {
    if (!this.isDrawDue) {
      this.isDrawDue = true
      requestAnimationFrame(() => {
        this.isDrawDue = false
        this.draw()
      })
    }
    this.panelTimer ??= window.setTimeout(() => {
      this.panelTimer = undefined
      this.drawPanels()
    }, PANEL_GAP_MS)
  }

  private draw(): void {
    const { layout, session, view } = this
    layout.root.classList.toggle("tl-loading", session === null || !session.isReady)
    this.drawTools()
    if (session === null) return
    this.drawSaveWords(session)
    const numOpen = openSuggestions(view.state).length
    this.tabs.badge("Review", numOpen)
    this.dock.show({ run: session.runs.active().at(-1) ?? null, isPaused: session.runView.isPaused, numOpen })
  }

  private drawPanels(): void {
    const { layout, session, view } = this
    this.documentsPanel.show(this.library.documents, this.documentId)
    if (session === null) return
    if (document.activeElement !== layout.title) layout.title.value = session.title
    document.title = `${session.title || "Untitled"} · Tideline`
    this.runPanel.show(session, view.state, rememberedRun(this.documentId))
    this.pages.review?.show()
    this.pages.show()
    this.pages.history?.show(session.revisions, session.version, openSuggestions(view.state).length)
    this.drawBanner(session)
    layout.words.textContent = wordCount(view)
  }

  private drawBanner(session: DocumentSession): void {
    const { banner } = this.layout
    const copy = session.copies.newest
    banner.hidden = copy === null
    refill(banner, copy ?? "", () => (copy === null ? [] : this.bannerParts(session, copy)))
  }

  private bannerParts(session: DocumentSession, copy: string): Node[] {
    const words = "Your changes and the server's could not be joined. Your copy is a document of its own. "
    const dismiss = (): void => {
      session.copies.newest = null
      this.drawSoon()
    }
    return [
      document.createTextNode(words),
      button("Open your copy", () => void this.open(copy), { class: "tl-quiet" }),
      button("Dismiss", dismiss, { class: "tl-quiet" }),
    ]
  }

  private drawSaveWords(session: DocumentSession): void {
    const { save } = this.layout
    const state = session.saveState
    save.dataset["kind"] = state.kind
    if (save.textContent !== state.words) save.textContent = state.words
  }

  private drawTools(): void {
    const { state } = this.view
    const range = state.selection.main
    const isOpen = this.session?.isReady ?? false
    const isInWord = range.empty ? state.wordAt(range.head) !== null : true
    const isLocked = spansTouching(state, range, "locked").length > 0
    const regions = spansTouching(state, range, "region")
    const isRegion = regions.some(({ from, to }) => range.empty || (from === range.from && to === range.to))
    const targets = refineTargets(state)
    this.toolbar.show({
      canLock: isOpen && (isLocked || isInWord),
      isLocked,
      canMark: isOpen && (regions.length > 0 || isInWord),
      isRegion,
      numTargets: isOpen ? (range.empty || regions.length > 0 ? targets.length : 1) : 0,
    })
  }
}
