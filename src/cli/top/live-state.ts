import type { Now } from '../../client/schema/now.ts';
import type { Chance } from '../../clock/chance.ts';
import type { Clock, Timer } from '../../clock/clock.ts';
import { beginAnswer } from './input/answer-prompt.ts';
import { throughput, withSample } from './lines/throughput.ts';
import { isOf, type Selection, type TopRow } from './lines/top-rows.ts';
import { askNow, problemText, type TopSource } from './top-source.ts';
import { type Details, type Message, startState, type TopState, type Wish, withRows } from './top-state.ts';

/** The least time between two requests to the daemon. */
const leastAskMs = 500;
/** The details of an issue are larger and change less often. */
const detailsEvery = 4;
const mostLog = 50;

export interface LiveStateParts {
  readonly source: TopSource;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly onChange: () => void;
  readonly fail: (error: unknown) => void;
  /** The slower the view draws, the less often it asks. */
  readonly refreshMs: number;
  readonly notice: string;
  readonly here: TopState['here'];
}

/**
 * The state of the view and what changes it apart from keys: answers of the daemon, and time. A daemon that does not
 * answer is asked again and again; the last known state stays.
 */
export interface LiveState extends Disposable {
  state(): TopState;
  update(change: (state: TopState) => TopState): void;
  look(row: TopRow, thenAnswer: boolean): void;
  submit(wish: Wish): void;
}

export function openLiveState(parts: LiveStateParts): LiveState {
  const { source, clock, chance, onChange, fail } = parts;
  const askEveryMs = Math.max(leastAskMs, parts.refreshMs);
  let state = startState(parts.notice, parts.here);
  let timer: Timer | null = null;
  let isOpen = true;
  let asked = 0;
  let isReading = false;
  const update = (change: (before: TopState) => TopState): void => {
    state = change(state);
  };
  const begin = (work: () => Promise<void>): void => {
    work().then(() => (isOpen ? onChange() : undefined), fail);
  };
  const ask = async (): Promise<void> => {
    const answer = await askNow(source, clock);
    if (!isOpen) return;
    // The address is known only now, and may have changed.
    state =
      'nows' in answer
        ? answered({ ...state, address: source.address }, answer.nows, clock)
        : silent(state, answer.problem, clock);
    state = { ...state, log: [...state.log, ...source.log()].slice(-mostLog) };
    timer = clock.schedule(askEveryMs, () => begin(ask));
    asked += 1;
    const { details, screen } = state;
    const isDue = screen === 'details' && asked % detailsEvery === 0;
    if (!isDue || isReading || details === null || details.issueId === null) return;
    isReading = true;
    await readDetails(details.project, details.issueId);
    isReading = false;
  };
  const readDetails = async (project: string, issueId: string): Promise<Details> => {
    const read = await detailsOf(source, project, issueId, runOf(state, { project, issueId }));
    // By now the user may have selected another issue.
    const isWanted = state.screen === 'details' && isSelected(state, { project, issueId });
    if (isWanted) update((before) => ({ ...before, details: read }));
    return read;
  };
  const lookAt = async ({ project, issueId, identifier, list, of }: TopRow, thenAnswer: boolean): Promise<void> => {
    // A row that is not about an issue has no details but its reason.
    if (issueId === null) {
      const details = { project, issueId, issue: null, events: [], problem: null };
      return update((before) => ({ ...before, details }));
    }
    const { issue, problem } = await readDetails(project, issueId);
    if (!thenAnswer || state.prompt !== null || !isSelected(state, { project, issueId })) return;
    const open = (issue?.questions ?? []).filter((question) => question.state === 'open');
    const wanted = list === 'needs_you' ? of.question_id : null;
    const question = open.find(({ id }) => id === wanted) ?? open[0];
    const text = problem ?? `${identifier} asks nothing.`;
    if (question !== undefined) update((before) => beginAnswer(before, project, identifier, question));
    else update((before) => ({ ...before, message: { text, tone: 'warn' } }));
  };
  begin(ask);
  return {
    state: () => state,
    update,
    look: (row, thenAnswer) => begin(() => lookAt(row, thenAnswer)),
    submit: (wish) => {
      update((before) => ({ ...before, message: { text: `${wish.name}…`, tone: 'plain' } }));
      begin(async () => {
        const message = await source.submit(wish.project, { ...wish.request, key: chance.id() }).then(
          ({ status, text }): Message => ({ text: `${wish.name}: ${text}`, tone: tones[status] }),
          (error: unknown): Message => ({ text: `${wish.name}: ${problemText(error)}`, tone: 'bad' }),
        );
        update((before) => ({ ...before, message }));
      });
    },
    [Symbol.dispose]: () => {
      isOpen = false;
      timer?.cancel();
    },
  };
}

const tones = { done: 'good', refused: 'bad', waiting: 'warn' } as const;

function answered(before: TopState, nows: readonly Now[], clock: Clock): TopState {
  const sample = { at: clock.monotonic(), tokens: nows.reduce((sum, { vitals }) => sum + vitals.today.tokens, 0) };
  const samples = withSample(before.samples, sample);
  const tokensPerSecond = throughput(samples, sample);
  const state = withRows({ ...before, nows, answeredAt: clock.now(), gone: null, samples, tokensPerSecond });
  const { selection } = state;
  // No key may act on another issue than the one in the details.
  if (state.screen !== 'details' || selection === null || isSelected(state, selection)) return state;
  return {
    ...state,
    screen: 'list',
    details: null,
    message: { text: 'This row is no longer listed.', tone: 'warn' },
  };
}

function silent(before: TopState, text: string, clock: Clock): TopState {
  const since = before.gone?.since ?? clock.now();
  return { ...before, gone: { since, text }, samples: [], tokensPerSecond: 0 };
}

/** Never rejects: a problem becomes part of the details. */
async function detailsOf(source: TopSource, project: string, issueId: string, runId: string | null): Promise<Details> {
  const known = { project, issueId };
  try {
    const events = runId === null ? [] : source.events(project, runId);
    const [issue, messages] = await Promise.all([source.issue(project, issueId), events]);
    return { ...known, issue, events: messages, problem: null };
  } catch (error) {
    return { ...known, issue: null, events: [], problem: problemText(error) };
  }
}

type Which = Pick<Selection, 'project' | 'issueId'>;

/** Whether the issue has a row, and the row is selected. */
function isSelected({ rows, selection }: TopState, { project, issueId }: Which): boolean {
  if (selection?.project !== project || selection.issueId !== issueId) return false;
  return rows.some((row) => row.key === selection.key || isOf(row, selection));
}

/** The run in progress, or the last run of a waiting row. */
function runOf({ rows }: TopState, which: Which): string | null {
  const ofIssue = rows.filter((row) => isOf(row, which));
  const running = ofIssue.find(({ list }) => list === 'running') ?? ofIssue.find(({ list }) => list === 'needs_you');
  return running?.list === 'running' || running?.list === 'needs_you' ? running.of.run_id : null;
}
