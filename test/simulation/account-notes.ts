import type { AccountState, QuotaWindow } from '../../src/core/account/account.ts';

interface Told {
  times: number;
  /** Wall time until which nothing that an agent said can keep the account from being used. */
  furthest: number;
}

/** The longest guess of a daemon, a tenth more by chance included. */
const longestGuessMs = 1.1 * 3_600_000;
/** By chance an account is left alone for so much longer than it was told. */
const jitterMs = 60_000;
/** From an agent's last word to the end of its run: it is ended, a hook runs, and the store may be out of reach. */
const toldMs = 300_000;
/** The first guess, and what it begins with where nobody is logged in. */
const baseMs = { quota: 60_000, auth: 300_000 };

/** What agents told of their accounts: what a daemon says of an account must have its reason here. */
export class AccountNotes {
  readonly #told = new Map<string, Told>();
  readonly #windows = new Map<string, QuotaWindow>();

  /** An agent is refused for the sake of its account. Times are those of its daemon's wall clock. */
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

  /** A window as an agent last told of it: what the store has may be older until that agent's run has ended. */
  lastReport(account: string, name: string): QuotaWindow | undefined {
    return this.#windows.get(`${account} ${name}`);
  }

  /** Whether what is known of an account comes from an agent that used it. */
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
