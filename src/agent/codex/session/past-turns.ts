/** Of so many turns that have ended a late word is known as such. */
const mostKept = 1_000;
/** Of a name that Codex gives to a turn; a longer one is none. */
const longestId = 256;

/** Turns of this session that have ended, or were told to: a late word about one of them is about none that runs. */
export class PastTurns {
  readonly #ids = new Set<string>();

  has(turnId: string | null): boolean {
    return turnId !== null && this.#ids.has(turnId);
  }

  add(turnId: string | null): void {
    if (turnId === null || turnId.length > longestId) return;
    this.#ids.add(turnId);
    const [oldest] = this.#ids;
    if (this.#ids.size > mostKept && oldest !== undefined) this.#ids.delete(oldest);
  }
}
