/**
 * Which suggestions are open, what of each is chosen, and which change is being looked at.
 *
 * A suggestion is cut into word groups; for each, a person picks words (of any alternative, or the
 * original's) and may decide it apart from the others. Nothing here is document text; deciding is
 * the session's, drawing is `review_marks`.
 */

import { type EditorState, StateEffect, StateField, type Transaction } from "@codemirror/state"
import { EditorView } from "@codemirror/view"
import type { FactFlag, SuggestionWire } from "./protocol.gen"
import { keepChoices, keptChoices } from "./review_memory"
import { type Span, spanById } from "./spans"
import { BASE, compose, pickedWords, type WordGroup, wordGroups } from "./word_groups"

/** One filling to choose: which suggestion it belongs to, and its index there. */
export interface Choice {
  readonly suggestionId: string
  readonly index: number
  readonly text: string
  readonly score: number
  readonly flags: readonly FactFlag[]
}

export type Verdict = "open" | "kept" | "left"

/** What is open for one region: running again adds choices, it takes none away. */
export interface OpenSuggestion {
  /** The newest suggestion; its id stands for all. */
  readonly wire: SuggestionWire
  readonly ids: readonly string[]
  /** Newest first. */
  readonly choices: readonly Choice[]
  /** Index of the choice turned to last. */
  readonly chosen: number
  /** A blank has no words of its own: it is decided as one. */
  readonly isBlank: boolean
  /** What the groups are cut from: the original, for a blank the first choice. */
  readonly base: string
  readonly groups: readonly WordGroup[]
  /** Per group: the choice whose words stand there, or `BASE`. */
  readonly picks: readonly number[]
  readonly verdicts: readonly Verdict[]
}

/** One change of a suggestion: a word group that differs, or all of it. */
export interface Change {
  readonly suggestion: OpenSuggestion
  /** Index of the group; null when the suggestion is decided as one. */
  readonly group: number | null
  readonly before: string
  readonly after: string
  readonly verdict: Verdict
}

export interface ReviewValue {
  /** In order of arrival, one per region. */
  readonly open: readonly OpenSuggestion[]
  readonly activeId: string | null
  /** The group looked at in the active suggestion. */
  readonly activeGroup: number | null
}

/** Everything the server holds open; choices made here are kept. */
export const receiveSuggestions = StateEffect.define<readonly SuggestionWire[]>()
export const chooseAlternative = StateEffect.define<{ id: string; index: number }>()
export const pickWords = StateEffect.define<{ id: string; group: number; pick: number }>()
export const judgeChange = StateEffect.define<{ id: string; group: number; verdict: Verdict }>()
export const activateSuggestion = StateEffect.define<{ id: string; group?: number | null }>()

export const reviewField = StateField.define<ReviewValue>({
  create: () => ({ open: [], activeId: null, activeGroup: null }),
  update(value, transaction) {
    let next = value
    for (const effect of transaction.effects) {
      if (effect.is(receiveSuggestions)) next = received(next, effect.value, transaction)
      else if (effect.is(chooseAlternative)) next = turned(next, effect.value.id, effect.value.index)
      else if (effect.is(pickWords)) next = picked(next, effect.value)
      else if (effect.is(judgeChange)) next = judged(next, effect.value)
      else if (effect.is(activateSuggestion)) next = activated(next, effect.value)
    }
    return next
  },
})

function received(value: ReviewValue, wires: readonly SuggestionWire[], { state }: Transaction): ReviewValue {
  const bySpan = Map.groupBy(wires, (wire) => wire.span_id)
  const open = [...bySpan.values()].map((group) => {
    const newest = group[group.length - 1] as SuggestionWire
    const known = value.open.find((one) => one.ids.join() === group.map(({ id }) => id).join())
    if (known !== undefined) return known
    return gathered(group, spanById(state, newest.span_id)?.settings["blank"] === true)
  })
  if (open.some(({ wire }) => wire.id === value.activeId)) return { ...value, open }
  const first = open[0]
  return { open, activeId: first?.wire.id ?? null, activeGroup: first === undefined ? null : firstOpenGroup(first) }
}

function gathered(wires: readonly SuggestionWire[], isBlank: boolean): OpenSuggestion {
  const wire = wires[wires.length - 1] as SuggestionWire
  const choices = [...wires]
    .reverse()
    .flatMap(({ id, alternatives }) =>
      alternatives.map(({ text, score, flags }, index) => ({ suggestionId: id, index, text, score, flags })),
    )
    .filter((choice, at, all) => all.findIndex(({ text }) => text === choice.text) === at)
  const base = isBlank ? (choices[0]?.text ?? "") : wire.original
  const groups = wordGroups(base, choices.map(({ text }) => text))
  const fresh = {
    wire, ids: wires.map(({ id }) => id), choices, chosen: 0, isBlank, base, groups,
    picks: groups.map(() => 0),
    verdicts: groups.map((): Verdict => "open"),
  }
  return { ...fresh, ...keptChoices(fresh) }
}

function changed(value: ReviewValue, id: string, change: (one: OpenSuggestion) => OpenSuggestion): ReviewValue {
  const open = value.open.map((one) => (one.wire.id === id ? change(one) : one))
  return { ...value, open }
}

/** Turns to another alternative; what was decided stays decided. */
function turned(value: ReviewValue, id: string, index: number): ReviewValue {
  const next = changed(value, id, (one) => {
    const count = one.choices.length
    const chosen = ((index % count) + count) % count
    return { ...one, chosen, picks: one.picks.map((pick, at) => (one.verdicts[at] === "open" ? chosen : pick)) }
  })
  const suggestion = next.open.find(({ wire }) => wire.id === id)
  const isShown = suggestion !== undefined && changesOf(suggestion).some(({ group }) => group === value.activeGroup)
  return { ...next, activeId: id, activeGroup: isShown || !suggestion ? value.activeGroup : firstOpenGroup(suggestion) }
}

function picked(value: ReviewValue, { id, group, pick }: { id: string; group: number; pick: number }): ReviewValue {
  return changed(value, id, (one) => ({ ...one, picks: one.picks.with(group, pick), verdicts: one.verdicts.with(group, "open") }))
}

function judged(value: ReviewValue, { id, group, verdict }: { id: string; group: number; verdict: Verdict }): ReviewValue {
  return changed(value, id, (one) => ({ ...one, verdicts: one.verdicts.with(group, verdict) }))
}

function activated(value: ReviewValue, { id, group }: { id: string; group?: number | null }): ReviewValue {
  const suggestion = value.open.find(({ wire }) => wire.id === id)
  if (suggestion === undefined) return value
  return { ...value, activeId: id, activeGroup: group === undefined ? firstOpenGroup(suggestion) : group }
}

function firstOpenGroup(suggestion: OpenSuggestion): number | null {
  const changes = changesOf(suggestion)
  return (changes.find(({ verdict }) => verdict === "open") ?? changes[0])?.group ?? null
}

// ---- what a suggestion says

/** What stands for each group: a change left out says what the original says. */
function effectivePicks({ picks, verdicts }: OpenSuggestion): number[] {
  return picks.map((pick, at) => (verdicts[at] === "left" ? BASE : pick))
}

/** The text a suggestion stands for, with every pick and verdict so far. */
export function suggestedText(suggestion: OpenSuggestion): string {
  return compose(suggestion.base, suggestion.groups, effectivePicks(suggestion))
}

/** The choice that says exactly this, or null for a mixture. */
export function pureChoice(suggestion: OpenSuggestion): Choice | null {
  const text = suggestedText(suggestion)
  const turnedTo = suggestion.choices[suggestion.chosen]
  return turnedTo?.text === text ? turnedTo : (suggestion.choices.find((choice) => choice.text === text) ?? null)
}

/** Facts that differ in what is chosen; of a mixture, those of every alternative that has a part. */
export function shownFlags(suggestion: OpenSuggestion): readonly FactFlag[] {
  const pure = pureChoice(suggestion)
  if (pure !== null) return pure.flags
  const parts = new Set(effectivePicks(suggestion).filter((pick) => pick !== BASE))
  const all = [...parts].flatMap((pick) => suggestion.choices[pick]?.flags ?? [])
  return all.filter((flag, at) => all.findIndex((one) => JSON.stringify(one) === JSON.stringify(flag)) === at)
}

export function changesOf(suggestion: OpenSuggestion): Change[] {
  const { base, groups, picks, verdicts, wire } = suggestion
  const whole: Change = { suggestion, group: null, before: wire.original, after: suggestedText(suggestion), verdict: "open" }
  if (suggestion.isBlank) return [whole]
  const changes = groups.flatMap((group, index): Change[] => {
    const before = base.slice(group.from, group.to)
    const after = pickedWords(base, group, picks[index] ?? BASE)
    return before === after ? [] : [{ suggestion, group: index, before, after, verdict: verdicts[index] ?? "open" }]
  })
  return changes.length === 0 ? [whole] : changes
}

// ---- what the editor holds

export function openSuggestions(state: EditorState): readonly OpenSuggestion[] {
  const { open } = state.field(reviewField)
  const start = (suggestion: OpenSuggestion): number => spanById(state, suggestion.wire.span_id)?.from ?? 0
  return [...open].sort((a, b) => start(a) - start(b))
}

export function activeSuggestion(state: EditorState): OpenSuggestion | null {
  const { open, activeId } = state.field(reviewField)
  return open.find((suggestion) => suggestion.wire.id === activeId) ?? null
}

export function activeChange(state: EditorState): Change | null {
  const suggestion = activeSuggestion(state)
  if (suggestion === null) return null
  const { activeGroup } = state.field(reviewField)
  const changes = changesOf(suggestion)
  return changes.find(({ group }) => group === activeGroup) ?? changes[0] ?? null
}

/** Where a suggestion can be placed: its region, if that still holds the text it was made for. */
export function placeOf(state: EditorState, suggestion: OpenSuggestion): Span | null {
  const span = spanById(state, suggestion.wire.span_id)
  if (span === undefined) return null
  return state.sliceDoc(span.from, span.to) === suggestion.wire.original ? span : null
}

/** The open change before or after the active one, in document order, going round. */
export function neighbour(state: EditorState, step: 1 | -1): Change | null {
  const all = openSuggestions(state).flatMap(changesOf)
  const open = all.filter(({ verdict }) => verdict === "open")
  const active = activeChange(state)
  if (active === null || open.length === 0) return open[0] ?? null
  const isSame = (one: Change): boolean => one.suggestion === active.suggestion && one.group === active.group
  const at = all.findIndex(isSame)
  const order = step === 1 ? [...all.slice(at + 1), ...all.slice(0, at + 1)] : [...all.slice(0, at).reverse(), ...all.slice(at).reverse()]
  return order.find(({ verdict }) => verdict === "open") ?? null
}

/** Choices outlive the page: a half-finished review goes on where it was. */
export const keepReview = EditorView.updateListener.of((update) => {
  const { open } = update.state.field(reviewField)
  if (open !== update.startState.field(reviewField).open) keepChoices(open)
})
