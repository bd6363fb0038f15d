/** What a screen reader hears of a run: its start, at most one line per 10 s, its end. */

import type { Announcer } from "./announcer"
import { afterPasses, type RunRecord } from "./run_model"
import type { SessionFact } from "./session_facts"
import { shareSettled } from "./strip"

export function narrateRun(fact: SessionFact, announcer: Announcer, numOpen: number): void {
  switch (fact.kind) {
    case "run_began": {
      const count = fact.run.spanIds.length
      announcer.alarm("run", "")
      announcer.begin(count === 1 ? "Refining 1 region." : `Refining ${count} regions.`)
      break
    }
    case "pass":
      announcer.progress(
        `Pass ${fact.run.passes.at(-1)?.pass ?? 0} of ${fact.run.maxPasses}, ${shareSettled(fact.run)} percent settled.`,
      )
      break
    case "run_over":
      if (fact.frame.state === "failed") {
        announcer.say("")
        announcer.alarm("run", failureWords(fact.run, fact.frame.message))
      } else announcer.sayOutcome(endWords(fact.frame.state, numOpen, fact.run.results.size > 0))
      break
    default:
      break
  }
}

/** What is said once suggestions were decided and this many are left. */
export function leftWords(numOpen: number): string {
  if (numOpen === 0) return "All suggestions decided."
  return numOpen === 1 ? "1 suggestion left." : `${numOpen} suggestions left.`
}

/** `isOffered`: the run itself offers something, so far as it came. */
function endWords(state: "finished" | "cancelled", numOpen: number, isOffered: boolean): string {
  const review = numOpen === 0 ? "" : numOpen === 1 ? " 1 suggestion. Press F8 to review." : ` ${numOpen} suggestions. Press F8 to review.`
  switch (state) {
    case "finished":
      return `Finished.${review || " Nothing to change."}`
    case "cancelled":
      return `Stopped.${isOffered ? " The draft so far is offered." : ""}${review || " The text is as it was."}`
  }
}

function failureWords(run: RunRecord, message: string | null): string {
  return `The run failed ${afterPasses(run)}; the text is as it was. ${sentence(message ?? "")}`.trim()
}

/** A message of the server as a sentence: capital first, full stop last. */
function sentence(message: string): string {
  if (message === "") return ""
  const capital = message.charAt(0).toUpperCase() + message.slice(1)
  return /[.!?]$/.test(capital) ? capital : `${capital}.`
}
