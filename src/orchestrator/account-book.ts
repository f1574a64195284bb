import type { Chance } from '../clock/chance.ts';
import type { Clock } from '../clock/clock.ts';
import {
  type AccountError,
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
import type { Store, StoreTables } from '../store/store.ts';
import type { AccountView } from './read-model.ts';

export interface AccountBookParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly logger: Logger;
  readonly isShared: boolean;
}

type AccountTables = Pick<StoreTables, 'accounts'>;

/**
 * What is known of the accounts of agents: kept here for decisions, in the store for the next life and for other daemons.
 * An account that ran out of quota, or that nobody is logged in to, is parked; nothing starts on it meanwhile.
 */
export class AccountBook {
  readonly #parts: AccountBookParts;
  readonly #states = new Map<string, AccountState>();
  /** Windows that agents here told of and that are not in the store yet. */
  readonly #reported = new Map<string, readonly QuotaWindow[]>();
  /** What was learned here and is not in the store yet, or could not be written: it holds on top of what is there. */
  readonly #pending = new Map<string, readonly Change[]>();
  /** How often something was learned here. */
  #changes = 0;

  constructor(parts: AccountBookParts) {
    this.#parts = parts;
  }

  /** Takes in what the store has, and so what other daemons learned. What is learned here meanwhile is newer. */
  async read(tables: AccountTables = this.#parts.store): Promise<void> {
    const before = this.#changes;
    const stored = await tables.accounts.list();
    if (this.#changes !== before) return;
    for (const state of stored) this.#states.set(keyOf(state), this.#withPending(state));
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

  /** As `whyNone`, at the moment of a start: other daemons may have parked an account since the last reading. */
  async whyNoneIn(tables: AccountTables, agent: AgentSettings): Promise<SkipReason | null> {
    if (this.#parts.isShared) await this.read(tables);
    return this.whyNone(agent);
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
    const key = keyOf(account);
    this.#reported.set(key, mergeWindows(this.#reported.get(key) ?? [], windows));
    const known = this.#of(account);
    this.#set({ ...known, windows: mergeWindows(known.windows, windows) });
  }

  /** A run on this account has ended: it is parked, or proved to be good. Written down as well as possible. */
  async runEnded(account: AccountSettings, outcome: RunOutcome, startedAt: number): Promise<void> {
    const { clock, chance, logger } = this.#parts;
    const error = refusalIn(outcome);
    if (error !== null) {
      const refusal = { now: clock.now(), chance: chance.next(), error };
      const { parked } = await this.#change(account, (state) => parkAfter({ ...refusal, state }));
      const until = parked === null ? null : new Date(parked.until).toISOString();
      const { name, backend } = account;
      logger.warn('An account is parked.', { account: name, backend, why: error.why, until });
      return;
    }
    // A run from before it was parked says nothing about now.
    await this.#change(account, (state) =>
      outcome.turns > 0 && (state.parked === null || startedAt > state.parked.since) ? afterGoodRun(state) : state,
    );
  }

  /** A person wants it tried again: he has logged in, or knows better than the account when its quota is back. */
  async tryAgain(backend: string): Promise<void> {
    const now = this.#parts.clock.now();
    // What is parked after he asked is parked for another reason.
    for (const state of this.list())
      if (state.backend === backend && state.parked !== null)
        await this.#change(state, (known) =>
          known.parked !== null && known.parked.since <= now ? { ...known, parked: null } : known,
        );
  }

  #choose(agent: AgentSettings, preferred: string | null): ReturnType<typeof chooseAccount> {
    const { backend, accounts, quotaStopPercent: stopPercent } = agent;
    return chooseAccount(accounts, this.list(), { backend, preferred, now: this.#parts.clock.now(), stopPercent });
  }

  #of(account: AccountName): AccountState {
    return this.#states.get(keyOf(account)) ?? nothingKnown(account);
  }

  #set(state: AccountState): void {
    this.#changes += 1;
    this.#states.set(keyOf(state), state);
  }

  #withPending(stored: AccountState): AccountState {
    const reported = this.#reported.get(keyOf(stored)) ?? [];
    const state = { ...stored, windows: mergeWindows(stored.windows, reported) };
    return (this.#pending.get(keyOf(stored)) ?? []).reduce((known, change) => change(known), state);
  }

  /** Changes what is known, here at once and then in the store, where another daemon may have learned more meanwhile. */
  async #change(account: AccountName, change: Change): Promise<AccountState> {
    const { store, clock, logger } = this.#parts;
    const key = keyOf(account);
    this.#pending.set(key, [...(this.#pending.get(key) ?? []), change]);
    this.#set(change(this.#of(account)));
    try {
      const { next, reported, written } = await store.transaction(async ({ accounts }) => {
        const stored = (await accounts.list()).find((state) => keyOf(state) === key);
        const reported = this.#reported.get(key);
        const written = this.#pending.get(key) ?? [];
        const next = this.#withPending(stored ?? nothingKnown(account));
        await accounts.put(next, clock.now());
        return { next, reported, written };
      });
      this.#pending.set(
        key,
        (this.#pending.get(key) ?? []).filter((each) => !written.includes(each)),
      );
      if (this.#reported.get(key) === reported) this.#reported.delete(key);
      this.#set(this.#withPending(next));
    } catch (error) {
      // It goes with the next change, and the next run on it finds out again.
      logger.error('What is known of an account could not be written down.', { account: account.name, error });
    }
    return this.#of(account);
  }
}

type Change = (state: AccountState) => AccountState;

interface AccountName {
  readonly backend: string;
  readonly name: string;
}

/** What an agent said when it was refused for the sake of its account; null when it was not. */
function refusalIn(outcome: RunOutcome): AccountError | null {
  if (outcome.end === 'succeeded') return null;
  const { code, message: reason, details } = outcome.error;
  if (code !== 'agent_quota_exhausted' && code !== 'agent_auth_failed') return null;
  const resetsAt = typeof details.resets_at === 'number' ? details.resets_at : null;
  return { why: code === 'agent_auth_failed' ? 'auth' : 'quota', resetsAt, reason };
}

function nothingKnown({ backend, name }: AccountName): AccountState {
  return { backend, name, windows: [], parked: null, parks: 0 };
}

function keyOf({ backend, name }: AccountName): string {
  return JSON.stringify([backend, name]);
}
