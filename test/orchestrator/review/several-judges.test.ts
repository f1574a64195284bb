import { describe, expect, it } from 'vitest';
import type { JudgeSettings } from '../../../src/core/settings.ts';
import { givenMemory } from '../../workflow/given.ts';
import { finding, judged, judging, minute, reviewed, roles, say, verdictsOf } from './review-scene.ts';

const named = givenMemory(
  ['agent: {backend: rehearsal}', 'agents: {second: {backend: codex}, third: {backend: command, command: x}}'].join(
    '\n',
  ),
).settings;

/** Judges of three kinds, of which as many give a verdict as the test says. */
function several(judge: Partial<JudgeSettings>) {
  const agents = ['default', 'second', 'third'];
  const settings = judging({ agents, ...judge });
  return { ...settings, agent: { ...named.agent, ...reviewed.agent, backend: 'rehearsal' }, agents: named.agents };
}

type Said = 'a' | 'r';

/** The judges of the first commit say this, one after the other. */
async function heard(settings: ReturnType<typeof several>, said: readonly Said[]) {
  const stage = await judged(settings);
  for (const [at, word] of said.entries()) {
    say(stage.runs[at + 1], word === 'a' ? [] : [finding]);
    await stage.clock.advance(minute);
  }
  return { stage, verdict: stage.orchestrator.read().pulls.get('1')?.judge };
}

// @conforms judge.7
describe('a commit with several judges', () => {
  it('has a verdict of each, by agents that take turns, one at a time, all about the same commit', async () => {
    const { stage, verdict } = await heard(several({ count: 3, decides: 'majority' }), ['a', 'r', 'a']);
    expect(verdict).toEqual({ status: 'approved', isDivided: true });
    expect(
      (await verdictsOf(stage)).map(({ place, agent, commit, verdict }) => [place, agent, commit, verdict]),
    ).toEqual([
      [0, 'default', 'commit-1', 'approved'],
      [1, 'second', 'commit-1', 'rejected'],
      [2, 'third', 'commit-1', 'approved'],
    ]);
    await stage.clock.advance(10 * minute);
    expect([roles(stage), await stage.stateNow()]).toEqual([['worker', 'judge', 'judge', 'judge'], 'In Review']);
    const conversations = stage.runs.slice(1).map(({ request }) => [request.threadId, request.judged?.commit]);
    expect(conversations).toEqual(Array(3).fill([null, 'commit-1']));
  });

  it('goes back with the findings of those that reject it, once the majority does', async () => {
    const { stage } = await heard(several({ count: 3, decides: 'majority' }), ['r', 'a', 'r']);
    expect(roles(stage)).toEqual(['worker', 'judge', 'judge', 'judge', 'worker']);
    const words = stage.runs[4]?.request.messages.map(({ author, path }) => [author, path]);
    const by = (at: number) => ({ kind: 'run', runId: stage.runs[at]?.request.runId });
    expect(words).toEqual([1, 3].flatMap((at) => [null, 'a.ts'].map((path) => [by(at), path])));
    expect(await stage.allPulls()).toMatchObject([{ sentBack: { kind: 'judge' }, timesSentBack: 1 }]);
  });

  it.each([
    ['any_reject', ['a', 'r'], ['worker', 'judge', 'judge', 'worker']],
    ['any_reject', ['r'], ['worker', 'judge', 'worker']],
    ['any_reject', ['a', 'a', 'a'], ['worker', 'judge', 'judge', 'judge']],
    ['majority', ['a', 'a'], ['worker', 'judge', 'judge']],
  ] as const)('with %s is decided as soon as it can be, after %j', async (decides, said, expected) => {
    const { stage } = await heard(several({ count: 3, decides }), said);
    await stage.clock.advance(10 * minute);
    expect(roles(stage)).toEqual(expected);
  });

  it('waits for a person when its judges disagree after the last round', async () => {
    const { stage, verdict } = await heard(several({ count: 2, maxRounds: 0 }), ['a', 'r']);
    expect(verdict).toEqual({ status: 'rejected', isDivided: true });
    expect(await stage.stateNow()).toBe('In Review');
  });
});
