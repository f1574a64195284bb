// @module-tag full
import { describe, expect, it } from 'vitest';
import {
  addIssue,
  boardWorkflow,
  liveTest,
  rehearsal,
  soon,
  startDaemon,
  statusOf,
  stopDaemon,
  untilStatus,
} from '../live-daemon.ts';
import { baton, leaveNoPlaces, Place } from '../run-baton.ts';

leaveNoPlaces();

// biome-ignore lint/suspicious/noExplicitAny: each test checks the part it is about.
function told(place: Place): any[] {
  const lines = place.read('told.jsonl').trim().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line));
}

describe('notifications of a running daemon', liveTest, () => {
  // @conforms notify.18
  it('report each reached limit of the day with its address, and a question once across a kill', async () => {
    using place = new Place();
    const more = ['limits: {tokens_per_day: 1000}', 'notify: {targets: [{kind: command, run: cat >> told.jsonl}]}'];
    const agent = 'agent: {backend: rehearsal, approvals: ask, isolation_write: [.]}';
    place.write('WORKFLOW.md', boardWorkflow(more.join('\n')).replace(/^agent: .*$/m, agent));
    place.write('told.jsonl', '');
    const first = await startDaemon(place);
    const url: string = (await statusOf(place)).api;
    await addIssue(place, rehearsal('ask Which colour?', '| red', '| blue', 'spend 2000', 'wait 60000'));
    await soon(() => expect(told(place)).toHaveLength(1));
    expect(told(place)[0]).toMatchObject({
      event: 'needs_you',
      issue: { identifier: 'BAT-1' },
      dashboard_url: `${url}/`,
      actions: [expect.stringMatching(/^baton ask show \S+$/), 'baton takeover BAT-1', 'baton issue stop BAT-1'],
    });
    first.child.kill('SIGKILL');
    await first.ended;
    const daemon = await startDaemon(place);
    await untilStatus(place, { questions: [{ issue_identifier: 'BAT-1' }] });
    // Another question, which is told after everything that was there before it.
    await addIssue(place, rehearsal('ask Which size?', '| small', '| large'));
    await soon(() => expect(told(place).at(-1)).toMatchObject({ issue: { identifier: 'BAT-2' } }));
    expect(told(place)).toHaveLength(2);
    expect((await baton(place, 'ask', 'answer', 'BAT-1', 'red')).code).toBe(0);
    await soon(() => expect(told(place)).toHaveLength(3));
    const limit = {
      event: 'limit_reached',
      issue: null,
      code: 'tokens_per_day',
      reason: expect.stringMatching(/\braise limits\.tokens_per_day\b/),
      actions: ['baton resume'],
    };
    expect(told(place).at(-1)).toMatchObject(limit);
    // The run goes on with its answer, and spends it all again.
    expect((await baton(place, 'resume')).code).toBe(0);
    const limits = () => told(place).filter(({ event }) => event === 'limit_reached');
    await soon(() => expect(limits()).toHaveLength(2));
    expect(limits()[1]).toMatchObject(limit);
    await stopDaemon(daemon);
  });
});
