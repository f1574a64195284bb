import type { AccountState, QuotaWindow } from '../../src/core/account/account.ts';

interface Told {
  times: number;
  /** Wall time until which no report of an agent can make the account unusable. */
  furthest: number;
}

/** The longest wait that a daemon guesses, including jitter of a tenth. */
const longestGuessMs = 1.1 * 3_600_000;
/** Jitter: an account may be left unused for this much longer than announced. */
const jitterMs = 60_000;
/** From an agent's last message to the end of its run: it is ended, a hook runs, and the store may be out of reach. */
const toldMs = 300_000;
/** The first guessed wait, without quota and without a login. */
const baseMs = { quota: 60_000, auth: 300_000 };

/** The reports of agents about their accounts: everything a daemon says about an account must have its reason here. */
export class AccountNotes {
  readonly #told = new Map<string, Told>();
  readonly #windows = new Map<string, QuotaWindow>();

  /** An agent is refused because of its account. Times are those of its daemon's wall clock. */
  refused(account: string, now: number, why: 'quota' | 'auth', resetsAt: number | null): void {
    const told = this.#of(account);
    told.times += 1;
    const guessMs = Math.min(1.1 * baseMs[why] * 2 ** (told.times - 1), longestGuessMs);
    told.furthest = Math.max(told.furthest, now + guessMs + toldMs, (resetsAt ?? 0) + jitterMs);
  }

  reported(account: string, window: QuotaWindow): void {
    const told = this.#of(account);
    told.furthest = Math.max(told.furthest, window.resetsAt ?? 0);
    this.#windows.set(`${account} ${window.name}`, window);
  }

  /** A quota window as an agent last reported it; the store may have older data until the run of that agent has ended. */
  lastReport(account: string, name: string): QuotaWindow | undefined {
    return this.#windows.get(`${account} ${name}`);
  }

  /** Whether the stored data of an account comes from an agent that used it. */
  isAnnounced({ name, parked, windows }: AccountState): boolean {
    const { furthest } = this.#of(name);
    const waits = [parked?.until ?? 0, ...windows.map(({ resetsAt }) => resetsAt ?? 0)];
    return waits.every((until) => until <= furthest);
  }

  #of(account: string): Told {
    const told = this.#told.get(account) ?? { times: 0, furthest: 0 };
    this.#told.set(account, told);
    return told;
  }
}
