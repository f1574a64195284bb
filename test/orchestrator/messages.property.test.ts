import fc from 'fast-check';
import { expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { runs } from '../property-runs.ts';
import { type Scene, scene } from './scene.ts';

/*
 * People leave words, runs receive them or not, and end well or not, and daemons die at any moment. What must hold: each
 * run gets every message that waits; a message is settled only by a run that received it and ended well; and none is
 * lost, so that the next good run settles them all.
 */

const ends = ['succeed', 'fail', 'stop', 'kill', 'kill at once'] as const;
const acts = ['say', 'retry', 'deliver', 'wait', ...ends] as const;
const key = (stage: Scene) => ({ project: stage.project, issueId: '1' });

class Words {
  readonly said: string[] = [];
  readonly received = new Map<string, Set<string>>();
  readonly checked = new Set<string>();
  stage: Scene;

  constructor(stage: Scene) {
    this.stage = stage;
  }

  get run() {
    return this.stage.runs.at(-1);
  }

  async act(act: (typeof acts)[number]): Promise<void> {
    const { stage } = this;
    const id = `m${this.said.length}`;
    const saidBefore = [...this.said];
    if (act === 'say') {
      const author = { kind: 'person', name: 'ann' } as const;
      await stage.store.messages.leave(key(stage), { id, at: 0, kind: 'reason', author, body: id });
      this.said.push(id);
    } else if (act === 'retry') {
      const answer = await stage.command('issue_retry', { issue: '1', note: id });
      if (answer?.status === 'done') this.said.push(id);
    } else if (act === 'deliver') this.deliver();
    else if (act === 'succeed') this.run?.succeed();
    else if (act === 'fail') this.run?.fail();
    else if (act === 'stop') this.run?.end();
    else if (act.startsWith('kill')) {
      stage.kill();
      this.stage = await scene({ store: stage.store, clock: stage.clock, tracker: stage.tracker, settings: patient });
      await this.stage.orchestrator.start();
    }
    if (act !== 'kill at once') await stage.clock.advance(act === 'wait' ? 400_000 : 5_000);
    await this.check(saidBefore);
  }

  deliver(): void {
    const { run } = this;
    if (run === undefined) return;
    const { runId, messages } = run.request;
    run.request.report({ kind: 'prompt_delivered', hasComments: true });
    this.received.set(runId, new Set([...(this.received.get(runId) ?? []), ...messages.map(({ body }) => body)]));
  }

  async check(saidBefore: readonly string[]): Promise<void> {
    const { stage, said, received, checked } = this;
    const stored = await stage.store.messages.list(key(stage), 999);
    expect(stored.map(({ body }) => body)).toEqual(said);
    for (const { body, givenTo, settledAt } of stored) {
      if (givenTo !== null) expect(received.get(givenTo)?.has(body)).toBe(true);
      if (settledAt === null) continue;
      const run = givenTo === null ? null : await stage.store.runs.read(givenTo);
      expect(run?.finish?.outcome).toBe('succeeded');
    }
    for (const { request } of stage.runs) {
      if (checked.has(request.runId)) continue;
      checked.add(request.runId);
      // What waits now also waited when this run began.
      const waiting = stored.filter(({ settledAt, body }) => settledAt === null && saidBefore.includes(body));
      const got = request.messages.map(({ body }) => body);
      expect(got).toEqual(expect.arrayContaining(waiting.map(({ body }) => body)));
    }
  }
}

/** One run: what is said before its end and while no agent works, whether its agent has the prompt, and how it ends. */
const life = fc
  .record({
    saysFirst: fc.boolean(),
    delivers: fc.boolean(),
    saysThen: fc.boolean(),
    end: fc.constantFrom(...ends),
    retries: fc.boolean(),
  })
  .map(({ saysFirst, delivers, saysThen, end, retries }): (typeof acts)[number][] => [
    ...(saysFirst ? (['say'] as const) : []),
    ...(delivers ? (['deliver'] as const) : []),
    ...(saysThen ? (['say'] as const) : []),
    end,
    ...(retries ? (['retry'] as const) : []),
    'wait',
  ]);

const patient = settings({
  intervalMs: 5_000,
  agent: { maxRetries: 1_000, maxStaleRuns: 1_000 },
});

it('no message is lost, or settled without a run that received it and ended well', { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 8 }), async (plan) => {
      const stage = await scene({ issues: [issue({ id: '1' })], settings: patient });
      await stage.orchestrator.start();
      await stage.clock.advance(0);
      const words = new Words(stage);
      await words.check([]);
      for (const act of plan.flat()) await words.act(act);
      for (const act of ['wait', 'deliver', 'succeed', 'wait', 'deliver', 'succeed'] as const) await words.act(act);
      expect(await words.stage.store.messages.waiting(key(words.stage), 9)).toEqual([]);
      words.stage.kill();
    }),
    { numRuns: runs(40) },
  );
});
