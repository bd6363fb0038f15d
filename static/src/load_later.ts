/** Fetches the part of the program that is opened now and then, once; says so when it cannot. */

export type Later = typeof import("./later")

export class LaterPart {
  private part: Promise<Later> | null = null

  constructor(private readonly say: (text: string) => void) {}

  async use(act: (part: Later) => void): Promise<void> {
    const part = await this.fetch().catch(() => null)
    if (part === null) this.say("That part of the page could not be loaded. Is the server reachable?")
    else act(part)
  }

  private fetch(): Promise<Later> {
    this.part ??= import("./later").catch((error: unknown) => {
      this.part = null // the next try may go better
      throw error
    })
    return this.part
  }
}
