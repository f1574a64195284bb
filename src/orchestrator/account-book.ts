import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import {
  type AccountState,
  afterGoodRun,
  chooseAccount,
  mergeWindows,
  parkAfter,
  type QuotaWindow,
  whyNotReady,
} from '../core/account.ts';
import type { SkipReason } from '../core/eligibility.ts';
import type { Logger } from '../core/logger.ts';
import type { RunOutcome } from '../core/run.ts';
import type { AccountSettings, AgentSettings } from '../core/settings.ts';
import type { Store } from '../store/store.ts';
import type { AccountView } from './read-model.ts';

export interface AccountBookParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
}

/**
 * What is known of the accounts of agents: kept here for decisions, in the store for the next life and for other daemons.
 * An account that ran out of quota, or that nobody is logged in to, is parked; nothing starts on it meanwhile.
 */
export class AccountBook {
  readonly #parts: AccountBookParts;
  readonly #states = new Map<string, AccountState>();

  constructor(parts: AccountBookParts) {
    this.#parts = parts;
  }

  /** Takes in what the store has. */
  async read(): Promise<void> {
    for (const state of await this.#parts.store.accounts.list()) this.#states.set(keyOf(state), state);
  }

  list(): readonly AccountState[] {
    return [...this.#states.values()];
  }

  /** The accounts of the backend in force, and whatever else is known, for people. */
  views(agent: AgentSettings): readonly AccountView[] {
    const inForce = agent.accounts.filter(({ backend }) => backend === agent.backend).map((each) => this.#of(each));
    const others = this.list().filter((state) => !inForce.includes(state));
    const now = { now: this.#parts.clock.now(), stopPercent: agent.quotaStopPercent };
    return [...inForce, ...others].map((state) => ({ ...state, waitsFor: whyNotReady(state, now)?.text ?? null }));
  }

  /** Why nothing may start on any account of the backend; null when there is one. */
  whyNone(agent: AgentSettings): SkipReason | null {
    const choice = this.#choose(agent, null);
    return 'account' in choice ? null : { code: 'waiting_quota', text: choice.why.text };
  }

  /** How long until there is an account to go on with; 0 when there is one. */
  readyInMs(agent: AgentSettings): number {
    const choice = this.#choose(agent, null);
    return 'account' in choice ? 0 : Math.max(0, choice.why.until - this.#parts.clock.now());
  }

  /** The account for a run: the one it had before where that may be, and in any case one. */
  choose(agent: AgentSettings, preferred: string | null): AccountSettings {
    const choice = this.#choose(agent, preferred);
    if ('account' in choice) return choice.account;
    const [first] = agent.accounts.filter(({ backend }) => backend === agent.backend);
    return first ?? { name: agent.backend, backend: agent.backend, env: {}, home: null };
  }

  report(account: AccountSettings, windows: readonly QuotaWindow[]): void {
    const known = this.#of(account);
    this.#states.set(keyOf(account), { ...known, windows: mergeWindows(known.windows, windows) });
  }

  /** A run on this account has ended: it is parked, or proved to be good. Written down as well as possible. */
  async runEnded(account: AccountSettings, outcome: RunOutcome, startedAt: number): Promise<void> {
    const { clock, chance, logger } = this.#parts;
    const known = this.#of(account);
    const code = outcome.end === 'succeeded' ? null : outcome.error.code;
    let next = known;
    if (outcome.end !== 'succeeded' && (code === 'agent_quota_exhausted' || code === 'agent_auth_failed')) {
      const { resets_at: resetsAt } = outcome.error.details;
      const why = code === 'agent_auth_failed' ? 'auth' : 'quota';
      const error = {
        why,
        resetsAt: typeof resetsAt === 'number' ? resetsAt : null,
        reason: outcome.error.message,
      } as const;
      next = parkAfter({ state: known, now: clock.now(), chance: chance.next(), error });
      const until = next.parked === null ? null : new Date(next.parked.until).toISOString();
      logger.warn('An account is parked.', { account: account.name, backend: account.backend, why, until });
      // A run from before it was parked says nothing about now.
    } else if (outcome.turns > 0 && (known.parked === null || startedAt > known.parked.since))
      next = afterGoodRun(known);
    this.#states.set(keyOf(account), next);
    await this.#write(next);
  }

  /** A person says that he has logged in: accounts that wait for that are tried again. */
  async loggedIn(backend: string): Promise<void> {
    for (const state of this.#states.values()) {
      if (state.backend !== backend || state.parked?.why !== 'auth') continue;
      const free = { ...state, parked: null };
      this.#states.set(keyOf(free), free);
      await this.#write(free);
    }
  }

  #choose(agent: AgentSettings, preferred: string | null): ReturnType<typeof chooseAccount> {
    const { backend, accounts, quotaStopPercent: stopPercent } = agent;
    return chooseAccount(accounts, this.list(), { backend, preferred, now: this.#parts.clock.now(), stopPercent });
  }

  #of(account: { readonly backend: string; readonly name: string }): AccountState {
    const { backend, name } = account;
    return this.#states.get(keyOf(account)) ?? { backend, name, windows: [], parked: null, parks: 0 };
  }

  async #write(state: AccountState): Promise<void> {
    const { store, clock, logger } = this.#parts;
    try {
      await store.accounts.put(state, clock.now());
    } catch (error) {
      // The next run on it finds out again.
      logger.error('What is known of an account could not be written down.', { account: state.name, error });
    }
  }
}

function keyOf({ backend, name }: { readonly backend: string; readonly name: string }): string {
  return JSON.stringify([backend, name]);
}
