import type { FinishedRow, NeedsYou, Now, RunningRow, WaitingRow } from '../../../src/client/schema/now.ts';
import type { Question } from '../../../src/client/schema/question.ts';

/** The instant at which a scene is seen. */
export const sceneAt = Date.UTC(2026, 6, 1, 12, 0, 0);

/** So long before the scene, or after it with a negative number. */
export function ago(seconds: number): string {
  return new Date(sceneAt - seconds * 1_000).toISOString();
}

const noUsage = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
};

const named = (identifier: string, title: string | null = null) => ({
  key: identifier,
  issue_id: `id-${identifier}`,
  issue_identifier: identifier,
  issue_url: null,
  title,
});

export function running(identifier: string, more: Partial<RunningRow> = {}): RunningRow {
  return {
    ...named(identifier, `The work of ${identifier}`),
    state: 'todo',
    run_id: `run-${identifier}`,
    attempt: null,
    stage: 'streaming_turn',
    turn: 7,
    session_id: null,
    workspace_path: null,
    pid: 4242,
    started_at: ago(1_225),
    last_event: 'message',
    last_message: 'reads the tests',
    last_event_at: ago(1),
    usage: { ...noUsage, total_tokens: 14_200 },
    agent: 'default',
    account: null,
    waits_for_person: false,
    warnings: [],
    ...more,
  };
}

export function needsYou(identifier: string, more: Partial<NeedsYou> = {}): NeedsYou {
  return {
    ...named(identifier),
    kind: 'held',
    code: 'person',
    reason: 'It failed five times.',
    since: ago(7_500),
    run_id: null,
    question_id: null,
    waits_until: null,
    actions: ['issue_retry'],
    ...more,
  };
}

export function waiting(identifier: string, more: Partial<WaitingRow> = {}): WaitingRow {
  return {
    ...named(identifier),
    kind: 'retry',
    state: 'todo',
    attempt: 2,
    reason: 'rate limit exhausted',
    code: null,
    next_check_at: ago(-42),
    ...more,
  };
}

export function finished(identifier: string, more: Partial<FinishedRow> = {}): FinishedRow {
  return { ...named(identifier, `What ${identifier} was about`), state: 'done', at: ago(600), ...more };
}

export function now(more: Partial<Now> = {}, vitals: Partial<Now['vitals']> = {}): Now {
  return {
    project: 'words',
    generated_at: ago(0),
    needs_you: [],
    running: [],
    waiting: [],
    finished: [],
    accounts: [],
    vitals: {
      started_at: ago(3_600),
      paused: null,
      slots: { used: 0, limit: 3 },
      today: { tokens: 20_200, cost_usd: 2.509, token_limit: null, cost_limit_usd: 20 },
      polling: {
        mode: 'active',
        interval_ms: 5_000,
        next_poll_at: ago(-2),
        is_polling: false,
        quiet_until: null,
        failures: 0,
      },
      budget: { step: 'free', text: '', until: null },
      problems: [],
      ...vitals,
    },
    ...more,
  };
}

export const colourQuestion: Question = {
  issue_id: 'id-WORDS-7',
  issue_identifier: 'WORDS-7',
  id: 'q-7',
  run_id: 'run-WORDS-7',
  kind: 'input',
  text: 'Which colour shall the button have?',
  detail: 'It is seen by everybody.',
  asked_at: ago(30),
  fields: [
    { name: 'colour', label: 'Colour', options: ['red', 'blue'], allows_other: false, is_secret: false },
    { name: 'why', label: 'Why', options: [], allows_other: false, is_secret: false },
  ],
  state: 'open',
  waits_until: null,
  answer: null,
  standing: 'unattended',
  closed_at: null,
};

/** A day at work: something in every list. */
export function busy(): Now {
  return now(
    {
      needs_you: [
        needsYou('WORDS-7', {
          kind: 'question',
          reason: 'The agent asks: Which colour shall the button have?',
          question_id: 'q-7',
          run_id: 'run-WORDS-7',
          waits_until: ago(-252),
          actions: ['question_answer', 'issue_takeover'],
        }),
        needsYou('WORDS-3', { title: 'Sort the list of words by their length' }),
      ],
      running: [
        running('WORDS-1', { last_message: 'runs npm test and waits for the third of four suites to end' }),
        running('WORDS-7', { waits_for_person: true, last_message: 'asks which colour', turn: 2, started_at: ago(61) }),
        running('WORDS-12', {
          attempt: 2,
          stage: 'preparing_workspace',
          turn: 0,
          started_at: ago(3),
          last_message: null,
        }),
      ],
      waiting: [
        waiting('WORDS-9', { reason: 'worker crashed\nrestarting cleanly' }),
        waiting('WORDS-10', {
          kind: 'quota',
          attempt: null,
          reason: 'account main has no quota left',
          next_check_at: ago(-3_700),
        }),
        waiting('WORDS-11', { kind: 'queue', attempt: null, reason: 'no slot (3 of 3)', next_check_at: null }),
      ],
      finished: [finished('WORDS-2'), finished('WORDS-4', { at: ago(4_000) })],
    },
    { slots: { used: 3, limit: 3 } },
  );
}
