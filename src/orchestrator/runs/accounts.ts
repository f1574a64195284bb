import {
  type AccountState,
  chooseAccount,
  mergeWindows,
  type QuotaWindow,
  whyNotReady,
} from '../../core/account/account.ts';
import {
  type AccountError,
  afterGoodRun,
  afterProbe,
  isProvedBy,
  needsProbe,
  parkAfter,
  probedBy,
  triedAgain,
} from '../../core/account/account-park.ts';
import type { SkipReason } from '../../core/dispatch/eligibility.ts';
import type { RunOutcome } from '../../core/run/run.ts';
import type { AccountSettings, AgentSettings } from '../../core/settings.ts';
import type { StoreTables } from '../../store/store.ts';
import type { BaseParts } from '../parts.ts';

export interface AccountsParts extends Pick<BaseParts, 'chance' | 'clock' | 'isShared' | 'logger' | 'store'> {
  /** A parked account works again: runs that wait for one may start. */
  readonly onWorkingAgain: () => void;
}

/** An account of the current backend, or one with a known state. */
export interface AccountView extends AccountState {
  /** Why nothing starts on it now; null when it is ready. */
  readonly waitsFor: string | null;
  /** The limits as an agent of this daemon last reported them; absent before. */
  readonly reported?: LimitReport;
}

interface LimitReport {
  readonly at: number;
  readonly limits: Readonly<Record<string, unknown>>;
}

/** The facts about a run that concern its account. */
export interface AccountUser {
  readonly runId: string;
  readonly account: AccountSettings;
  readonly startedAt: number;
}

type AccountTables = Pick<StoreTables, 'accounts' | 'runs'>;

/**
 * The state of the agents' accounts: in memory for decisions, in the store for restarts and for other daemons. An
 * account that ran out of quota, or has no login, is parked; nothing starts on it meanwhile. Then one run tries it, and
 * the others wait until a turn of that run succeeds.
 */
export class Accounts {
  readonly #parts: AccountsParts;
  readonly #states = new Map<string, AccountState>();
  /** Quota windows that agents here reported and that are not in the store yet. */
  readonly #reported = new Map<string, readonly QuotaWindow[]>();
  readonly #reports = new Map<string, LimitReport>();
  /**
   * Changes made here that are not in the store yet, or could not be written: they apply on top of the stored state.
   */
  readonly #pending = new Map<string, readonly Change[]>();
  #changes = 0;

  constructor(parts: AccountsParts) {
    this.#parts = parts;
  }

  /** Reads the store, and so the changes of other daemons. Changes made here during the read are newer. */
  async read(tables: AccountTables = this.#parts.store): Promise<void> {
    const before = this.#changes;
    const stored = await Promise.all((await tables.accounts.list()).map((state) => withoutOldProbe(tables, state)));
    if (this.#changes !== before) return;
    for (const state of stored) this.#states.set(keyOf(state), this.#withPending(state));
  }

  list(): readonly AccountState[] {
    return [...this.#states.values()];
  }

  /** For people: these accounts, and every other known account. */
  views(inUse: readonly AccountSettings[], stopPercent: number): readonly AccountView[] {
    const inForce = inUse.map((each) => this.#of(each));
    const others = this.list().filter((state) => !inForce.includes(state));
    const now = { now: this.#parts.clock.now(), stopPercent };
    return [...inForce, ...others].map((state) => {
      const reported = this.#reports.get(keyOf(state));
      const view = { ...state, waitsFor: whyNotReady(state, now)?.text ?? null };
      return reported === undefined ? view : { ...view, reported };
    });
  }

  /**
   * Why nothing may start on any account of the backend; null when one is ready. `startsBefore` runs are about to start
   * before it, on accounts that are not chosen yet.
   */
  whyNone(agent: AgentSettings, startsBefore: number): SkipReason | null {
    const choice = this.#choose(agent, { preferred: null, startsBefore });
    return 'account' in choice ? null : { code: 'waiting_quota', text: choice.why.text };
  }

  /** As `whyNone`, at the moment of a start: other daemons may have parked an account since the last read. */
  async whyNoneIn(tables: AccountTables, agent: AgentSettings): Promise<SkipReason | null> {
    if (this.#parts.isShared) await this.read(tables);
    return this.whyNone(agent, 0);
  }

  /** Time until an account is ready; 0 when one is. */
  readyInMs(agent: AgentSettings): number {
    const choice = this.#choose(agent, { preferred: null, startsBefore: 0 });
    return 'account' in choice ? 0 : Math.max(0, choice.why.until - this.#parts.clock.now());
  }

  /**
   * The account for a run: its previous one if that is ready, and always some account. If the account needs a probe,
   * this run is the probe. The transaction of its start writes that, and every change that the choice is based on and
   * that is not in the store yet: other daemons read there whether they may use the account.
   */
  async take(
    tables: AccountTables,
    agent: AgentSettings,
    { preferred, runId }: { readonly preferred: string | null; readonly runId: string },
  ): Promise<AccountSettings> {
    const choice = this.#choose(agent, { preferred, startsBefore: 0 });
    const [first] = agent.accounts.filter(({ backend }) => backend === agent.backend);
    const any = first ?? { name: agent.backend, backend: agent.backend, env: {}, home: null };
    const account = 'account' in choice ? choice.account : any;
    const now = this.#parts.clock.now();
    const known = this.#of(account);
    const isProbe = needsProbe(known, now);
    if (!isProbe && !this.#hasPending(account)) return account;
    const taken = (state: AccountState): AccountState => (isProbe ? probedBy(state, runId, now) : state);
    this.#set(taken(known));
    const withPending = this.#pendingNow(account);
    const stored = (await tables.accounts.list()).find((state) => keyOf(state) === keyOf(account));
    await tables.accounts.put(taken(withPending(stored ?? known)), now);
    return account;
  }

  /** A run that should try an account has ended, or did not begin: another run may try it. */
  async probeEnded(runId: string): Promise<void> {
    for (const state of this.list())
      if (state.parked?.probe?.by === runId) await this.#change(state, (known) => afterProbe(known, runId));
  }

  report(account: AccountSettings, windows: readonly QuotaWindow[]): void {
    const key = keyOf(account);
    this.#reported.set(key, mergeWindows(this.#reported.get(key) ?? [], windows));
    const known = this.#of(account);
    this.#set({ ...known, windows: mergeWindows(known.windows, windows) });
  }

  /** For clients that know the agent's own report; nothing is decided from it. */
  keepReport(account: AccountSettings, limits: LimitReport['limits']): void {
    this.#reports.set(keyOf(account), { at: this.#parts.clock.now(), limits });
  }

  /** A turn of this run succeeded. A failed write is only logged; the next turn writes it too. */
  async turnCompleted({ account, ...run }: AccountUser): Promise<void> {
    const known = this.#of(account);
    if ((isGood(known) && !this.#hasPending(account)) || !isProvedBy(known, run)) return;
    await this.#learn(account, (state) => (isProvedBy(state, run) ? afterGoodRun(state) : state));
  }

  /** Changes the state of an account, and reports when that makes a parked account good. */
  async #learn(account: AccountSettings, change: Change): Promise<AccountState> {
    const wasGood = isGood(this.#of(account));
    const state = await this.#change(account, change);
    if (!wasGood && isGood(state)) this.#parts.onWorkingAgain();
    return state;
  }

  /** A run has ended: parks its account, or marks it as good. Returns the new state. */
  async runEnded(user: AccountUser, outcome: RunOutcome): Promise<AccountState> {
    const { clock, chance, logger } = this.#parts;
    const { account, runId } = user;
    const error = refusalIn(outcome);
    if (error !== null) {
      const refusal = { now: clock.now(), chance: chance.next(), error, by: runId };
      const state = await this.#change(account, (known) => parkAfter({ ...refusal, state: known }));
      const until = state.parked === null ? null : new Date(state.parked.until).toISOString();
      const { name, backend } = account;
      logger.warn('account_unavailable', { account: name, backend, why: error.why, until });
      return state;
    }
    const known = this.#of(account);
    const isNews = this.#hasPending(account) || this.#reported.has(keyOf(account));
    if (isGood(known) && !isNews && !this.#parts.isShared) return known;
    const hasProved = outcome.end === 'succeeded' && outcome.turns > 0;
    // Also when the run proved nothing: this write includes the quota windows that its agent reported.
    return this.#learn(account, (state) =>
      afterProbe(hasProved && isProvedBy(state, user) ? afterGoodRun(state) : state, runId),
    );
  }

  /** A person wants the account tried again: they have logged in, or know that its quota is back. */
  async tryAgain(backends: ReadonlySet<string>, why: readonly AccountError['why'][]): Promise<void> {
    const now = this.#parts.clock.now();
    const isMeant = ({ parked }: AccountState): boolean => parked !== null && why.includes(parked.why);
    for (const state of this.list())
      if (backends.has(state.backend) && isMeant(state))
        await this.#change(state, (known) => (isMeant(known) ? triedAgain(known, now) : known));
  }

  #choose(
    agent: AgentSettings,
    wanted: { readonly preferred: string | null; readonly startsBefore: number },
  ): ReturnType<typeof chooseAccount> {
    const { backend, accounts, quotaStopPercent: stopPercent } = agent;
    return chooseAccount(accounts, this.list(), { ...wanted, backend, now: this.#parts.clock.now(), stopPercent });
  }

  #of(account: AccountName): AccountState {
    return this.#states.get(keyOf(account)) ?? nothingKnown(account);
  }

  #set(state: AccountState): void {
    this.#changes += 1;
    this.#states.set(keyOf(state), state);
  }

  #hasPending(account: AccountName): boolean {
    return (this.#pending.get(keyOf(account)) ?? []).length > 0;
  }

  #withPending(stored: AccountState): AccountState {
    return this.#pendingNow(stored)(stored);
  }

  /**
   * The changes that are not in the store at this moment, as one. Taken before the stored state is read: a change that
   * another transaction writes after that read would be missing in both.
   */
  #pendingNow(account: AccountName): Change {
    const reported = this.#reported.get(keyOf(account)) ?? [];
    const changes = this.#pending.get(keyOf(account)) ?? [];
    return (stored) => {
      const state = { ...stored, windows: mergeWindows(stored.windows, reported) };
      return changes.reduce((known, change) => change(known), state);
    };
  }

  /**
   * Changes the state here at once, and in the store, where another daemon may have made newer changes. A change that
   * cannot be written holds here all the same, until this daemon ends; the next write of the account includes it.
   */
  async #change(account: AccountName, change: Change): Promise<AccountState> {
    const { store, clock, logger } = this.#parts;
    const key = keyOf(account);
    this.#pending.set(key, [...(this.#pending.get(key) ?? []), change]);
    this.#set(change(this.#of(account)));
    const before = this.#changes;
    try {
      const { next, reported, written } = await store.transaction(async ({ accounts }) => {
        const reported = this.#reported.get(key);
        const written = this.#pending.get(key) ?? [];
        const withPending = this.#pendingNow(account);
        const stored = (await accounts.list()).find((state) => keyOf(state) === key);
        const next = withPending(stored ?? nothingKnown(account));
        await accounts.put(next, clock.now());
        return { next, reported, written };
      });
      this.#pending.set(
        key,
        (this.#pending.get(key) ?? []).filter((each) => !written.includes(each)),
      );
      if (this.#reported.get(key) === reported) this.#reported.delete(key);
      // Changes made here during the write are newer; the next read takes the rest.
      if (this.#changes === before) this.#set(this.#withPending(next));
    } catch (error) {
      // After a crash, the next run on the account finds it out again.
      logger.error('account_write_failed', { account: account.name, error });
    }
    return this.#of(account);
  }
}

/** A run that has ended is not a probe any more, even if its daemon could not write that. */
async function withoutOldProbe({ runs }: AccountTables, state: AccountState): Promise<AccountState> {
  const by = state.parked?.probe?.by;
  if (by === undefined) return state;
  const run = await runs.read(by);
  return run === null || run.finish !== null ? afterProbe(state, by) : state;
}

type Change = (state: AccountState) => AccountState;

interface AccountName {
  readonly backend: string;
  readonly name: string;
}

/** The account error of a run that was refused for its account; null for any other outcome. */
function refusalIn(outcome: RunOutcome): AccountError | null {
  if (outcome.end === 'succeeded') return null;
  const { code, message: reason, details } = outcome.error;
  if (code !== 'agent_quota_exhausted' && code !== 'agent_auth_failed') return null;
  const resetsAt = typeof details.resets_at === 'number' ? details.resets_at : null;
  const isBilling = details.billing === true;
  return {
    why: code === 'agent_auth_failed' ? 'auth' : 'quota',
    resetsAt,
    reason,
    ...(isBilling ? { isBilling } : {}),
  };
}

function isGood({ parked, parks }: AccountState): boolean {
  return parked === null && parks === 0;
}

function nothingKnown({ backend, name }: AccountName): AccountState {
  return { backend, name, windows: [], parked: null, parks: 0 };
}

function keyOf({ backend, name }: AccountName): string {
  return JSON.stringify([backend, name]);
}
