import { describe, expect, it } from 'vitest';
import type { AgentQuestion } from '../../../src/core/command/question.ts';
import { causesIn, type NotifyCause } from '../../../src/core/notify/notify-cause.ts';
import { notifyFacts } from '../../../src/daemon/services/notify-facts.ts';
import { issue } from '../../fake/issues.ts';
import { settings } from '../../fake/settings.ts';
import { SimulatedClock } from '../../fake/simulated-clock.ts';
import { begun, type Scene, scene, spend } from '../../orchestrator/scene.ts';

const minute = 60_000;
const hour = 60 * minute;
const usual = settings({ intervalMs: 10_000 });
const mayI: AgentQuestion = { kind: 'command', text: 'May I run make?', detail: 'make all', fields: [] };

/** What somebody would be told of now. */
function causes({ orchestrator, clock }: Scene): readonly NotifyCause[] {
  const facts = notifyFacts('shop', orchestrator.read());
  return causesIn(facts, { at: clock.now(), problems: new Map(), daemon: 'd' });
}

const keys = (stage: Scene): string[] => causes(stage).map(({ key }) => key);

describe('a limit of the day', () => {
  const limited = settings({ intervalMs: 10_000, limits: { tokensPerDay: 1_000, usdPerDay: 5 } });
  const lateInTheDay = () => new SimulatedClock({ startAt: Date.UTC(2026, 0, 5, 22) });

  /** Uses up what the day allows, and ends what is interrupted for it. */
  async function useUp(stage: Scene, tokens: number, microUsd = 0): Promise<void> {
    const run = stage.runs.at(-1);
    spend(run, tokens, microUsd);
    run?.end();
    await stage.clock.advance(minute);
  }

  it('that stops all work is one cause, also after a restart, until the day ends', async () => {
    const stage = await begun({ settings: limited, clock: lateInTheDay() });
    spend(stage.runs[0], 800);
    expect(keys(stage)).toEqual([]);
    await useUp(stage, 1_000);
    expect(stage.runs).toHaveLength(1);
    const [cause, ...others] = causes(stage);
    expect(others).toEqual([]);
    expect(cause).toMatchObject({
      event: 'limit_reached',
      issue: null,
      code: 'tokens_per_day',
      actions: ['baton resume'],
      reason: expect.stringMatching(/1,000 .*1,000 .*limits\.tokens_per_day.*00:00 UTC/),
    });
    await stage.orchestrator.stop();
    const next = await begun({ settings: limited, store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.clock.advance(minute);
    expect(keys(next)).toEqual([cause?.key]);
    const taken = notifyFacts('shop', next.orchestrator.read());
    await next.clock.advance(2 * hour);
    expect(keys(next)).toEqual([]);
    expect(causesIn(taken, { at: next.clock.now(), problems: new Map(), daemon: 'd' })).toEqual([]);
    expect(next.runs).toHaveLength(1);
  });

  // @conforms notify.15
  it('is another cause for each allowance that is used up', async () => {
    const stage = await begun({ settings: limited, clock: lateInTheDay() });
    await useUp(stage, 1_000);
    const first = keys(stage);
    expect(await stage.command('resume')).toMatchObject({ status: 'done' });
    await stage.clock.advance(minute);
    expect(keys(stage)).toEqual([]);
    await useUp(stage, 1_000);
    const second = keys(stage);
    await stage.command('resume');
    await stage.clock.advance(minute);
    await useUp(stage, 10, 5_000_000);
    const third = keys(stage);
    expect([first.length, second.length, third.length]).toEqual([1, 1, 1]);
    expect(new Set([...first, ...second, ...third]).size).toBe(3);
  });

  it('on tokens and on money is reported as two causes', async () => {
    const stage = await begun({ settings: limited, clock: lateInTheDay() });
    await useUp(stage, 1_000, 5_000_000);
    expect(causes(stage).map(({ code }) => code)).toEqual(['tokens_per_day', 'usd_per_day']);
  });
});

it('an environment in which no run can begin is one cause with its error, whatever it stops', async () => {
  const stage = await begun({
    settings: usual,
    issues: ['1', '2', '3'].map((id) => issue({ id })),
    play: (run) => run.failEarly('repository_unavailable'),
  });
  const { clock, orchestrator } = stage;
  const found = (): readonly NotifyCause[] => {
    const problems = new Map([['repository_unavailable', clock.now() - minute]]);
    return causesIn(notifyFacts('shop', orchestrator.read()), { at: clock.now(), problems, daemon: 'd' });
  };
  for (let tries = 0; tries < 3; tries += 1) {
    await clock.advance(5 * minute);
    expect(found()).toMatchObject([{ event: 'unhealthy', issue: null, code: 'repository_unavailable' }]);
  }
  expect(new Set(stage.runs.map(({ request }) => request.issue.id)).size).toBeGreaterThan(1);
});

describe('a question', () => {
  /** The life after this one, with a run that has not asked yet. */
  async function nextLife(stage: Scene, ends: 'killed' | 'stopped' = 'killed'): Promise<Scene> {
    if (ends === 'killed') stage.kill();
    else {
      const stopped = stage.orchestrator.stop();
      await stage.clock.advance(0);
      for (const run of stage.runs) run.end();
      await stage.clock.advance(minute);
      await stopped;
    }
    const { store, clock, tracker } = stage;
    const next = await scene({ store, clock, tracker, settings: usual });
    await next.orchestrator.start();
    await next.clock.advance(minute);
    expect(next.runs).toHaveLength(1);
    return next;
  }

  async function ask(stage: Scene, question = mayI, signal?: AbortSignal): Promise<string> {
    void stage.runs.at(-1)?.request.ask(question, signal);
    await stage.clock.advance(0);
    return stage.orchestrator.read().questions.at(-1)?.id ?? 'none';
  }

  // @conforms notify.17
  it.each(['killed', 'stopped'] as const)(
    'that every daemon asks again is one cause when Baton is %s',
    async (ends) => {
      let stage = await begun({ settings: usual });
      const first = await ask(stage);
      expect(keys(stage)).toEqual([`question:${first}`]);
      for (let life = 0; life < 3; life += 1) {
        stage = await nextLife(stage, ends);
        const id = await ask(stage);
        expect(id).not.toBe(first);
        expect(keys(stage)).toEqual([`question:${first}`]);
        expect(causes(stage)[0]?.actions[0]).toBe(`baton ask show ${id}`);
      }
    },
  );

  it('is the same cause when a daemon in between did not ask it, and each of several questions keeps its own', async () => {
    const other = { ...mayI, detail: 'make clean' };
    let stage = await begun({ settings: usual });
    const before = [await ask(stage), await ask(stage, other)].map((id) => `question:${id}`);
    stage = await nextLife(await nextLife(stage));
    await ask(stage, other);
    await ask(stage);
    expect(keys(stage)).toEqual(before.toReversed());
  });

  it('is a new cause after a person answered it, whatever the agent asks next', async () => {
    const stage = await begun({ settings: usual });
    const first = await ask(stage);
    expect(await stage.command('question_answer', { question: first, decision: 'decline' })).toMatchObject({
      status: 'done',
    });
    const second = await ask(stage);
    expect(keys(stage)).toEqual([`question:${second}`]);
    const next = await nextLife(stage);
    await ask(next);
    expect(keys(next)).toEqual([`question:${second}`]);
    // The same once more while it is open is another one to answer.
    const third = await ask(next);
    expect(keys(next)).toEqual([`question:${second}`, `question:${third}`]);
  });

  it('is a new cause for the next daemon after a person answered it', async () => {
    const stage = await begun({ settings: usual });
    const first = await ask(stage);
    await stage.command('question_answer', { question: first, decision: 'decline' });
    const next = await nextLife(stage);
    const second = await ask(next);
    expect(second).not.toBe(first);
    expect(keys(next)).toEqual([`question:${second}`]);
  });

  it('is a new cause after a hold that a person lifted', async () => {
    const stage = await begun({ settings: settings({ intervalMs: 10_000, agent: { askTimeoutMs: minute } }) });
    const first = await ask(stage);
    await stage.clock.advance(minute);
    stage.runs[0]?.end();
    await stage.clock.advance(minute);
    expect(causes(stage)).toMatchObject([{ event: 'held', code: 'agent_input_required' }]);
    await stage.command('issue_retry', { issue: 'T-1' });
    await stage.clock.advance(minute);
    expect(stage.runs).toHaveLength(2);
    const second = await ask(stage);
    expect(second).not.toBe(first);
    expect(keys(stage)).toEqual([`question:${second}`]);
  });

  it('is a new cause when the agent withdrew the first one, or a whole run passed without it', async () => {
    const stage = await begun({ settings: usual });
    const aborted = new AbortController();
    await ask(stage, mayI, aborted.signal);
    aborted.abort();
    await stage.clock.advance(minute);
    const next = await nextLife(stage);
    const second = await ask(next);
    expect(keys(next)).toEqual([`question:${second}`]);
    const after = await nextLife(next);
    after.runs[0]?.succeed();
    await after.clock.advance(minute);
    expect(after.runs).toHaveLength(2);
    const third = await ask(after);
    expect(keys(after)).toEqual([`question:${third}`]);
  });
});

// @conforms notify.22
it('does not notify a person about their own hold, stop or takeover', async () => {
  for (const kind of ['issue_hold', 'issue_stop', 'issue_takeover']) {
    const stage = await begun({ settings: usual });
    await stage.command(kind, { issue: 'T-1' });
    stage.runs[0]?.end();
    await stage.clock.advance(minute);
    expect(stage.orchestrator.read().held, kind).toHaveLength(1);
    expect(keys(stage), kind).toEqual([]);
  }
});
