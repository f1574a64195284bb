import { describe, expect, it } from 'vitest';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { givenMemory } from '../workflow/given.ts';
import { begun, scene } from './scene.ts';

const hour = 3_600_000;
const named = givenMemory(
  [
    'agent: {backend: rehearsal, stand_in: second, max_retries: 9}',
    'agents: {second: {backend: codex}, third: {backend: command, command: x}}',
  ].join('\n'),
).settings;
const several = { ...settings({ intervalMs: hour }), agent: { ...named.agent }, agents: named.agents };

const agents = (runs: readonly { request: { workflow: { settings: { agent: { backend: string } } } } }[]) =>
  runs.map(({ request }) => request.workflow.settings.agent.backend);

describe('an agent that fails or is exhausted', () => {
  it('is replaced by its stand-in after two failures in a row', async () => {
    const stage = await begun({ settings: several });
    stage.runs[0]?.fail();
    await stage.clock.advance(hour);
    stage.runs[1]?.fail();
    await stage.clock.advance(hour);
    expect(agents(stage.runs)).toEqual(['rehearsal', 'rehearsal', 'codex']);
    const records = await stage.store.runs.list(stage.project, { limit: 10 });
    expect(records.map(({ agent, agentReason }) => [agent, agentReason])).toEqual([
      ['second', 'stand_in'],
      ['default', 'default'],
      ['default', 'default'],
    ]);
  });

  it('is replaced by its stand-in while its quota is used up, and works again afterwards', async () => {
    const stage = await begun({ settings: several });
    const resetsAt = stage.clock.now() + 2 * hour;
    stage.runs[0]?.fail('agent_quota_exhausted', { resets_at: resetsAt });
    await stage.clock.advance(60_000);
    expect(agents(stage.runs)).toEqual(['rehearsal', 'codex']);
    stage.runs[1]?.succeed();
    await stage.clock.advance(60_000);
    expect(agents(stage.runs)).toEqual(['rehearsal', 'codex', 'codex']);
    await stage.clock.advance(3 * hour);
    stage.runs[2]?.succeed();
    await stage.clock.advance(60_000);
    expect(agents(stage.runs).at(-1)).toBe('rehearsal');
  });

  it('is still the one that a person chose after a crash while its stand-in worked', async () => {
    const chosen = givenMemory(
      [
        'agent: {backend: rehearsal, max_retries: 9}',
        'agents: {second: {backend: codex}, third: {backend: command, command: x, stand_in: second}}',
      ].join('\n'),
    ).settings;
    const options = { settings: { ...several, agent: chosen.agent, agents: chosen.agents } };
    const stage = await begun(options);
    stage.runs[0]?.fail();
    await stage.clock.advance(0);
    await stage.command('issue_retry', { issue: '1', agent: 'third' });
    await stage.clock.advance(0);
    stage.runs[1]?.fail('agent_quota_exhausted', { resets_at: stage.clock.now() + 9 * hour });
    await stage.clock.advance(60_000);
    expect(agents(stage.runs)).toEqual(['rehearsal', 'command', 'codex']);
    stage.kill();
    const next = await scene({ ...options, store: stage.store, clock: stage.clock, tracker: stage.tracker });
    await next.orchestrator.start();
    await next.clock.advance(60_000);
    const [last] = await next.store.runs.list(next.project, { limit: 1 });
    expect([agents(next.runs), last]).toMatchObject([['codex'], { agentReason: 'stand_in', chosenAgent: 'third' }]);
  });

  it('is the one of its label, and an unknown one starts nothing', async () => {
    const stage = await begun({
      settings: several,
      issues: [issue({ id: '1', labels: ['agent:third'] }), issue({ id: '2', labels: ['agent:gone'] })],
    });
    expect(agents(stage.runs)).toEqual(['command']);
    expect(stage.orchestrator.read().skipped).toMatchObject([
      { issue: { id: '2' }, reason: { code: 'unknown_agent' } },
    ]);
  });
});
