import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { begun, gate, scene } from './scene.ts';

const person = { kind: 'person', name: 'me' } as const;

/** A workspace that no run is known of. */
const leftBehind = (id: string) =>
  ({ key: `T-${id}`, path: `/workspaces/T-${id}`, state: 'whole', bytes: null, changedAt: 0 }) as const;

describe('a start', () => {
  // @conforms 2.16
  it('ends leftover processes, recovers, serves waiting commands, cleans up and ticks, in this order', async () => {
    const first = await begun();
    first.kill();
    const order: string[] = [];
    const stage = await scene({
      store: first.store,
      issues: [issue({ id: '1' }), issue({ id: '2', state: 'Done' })],
      processes: {
        endLeftovers: async () => {
          order.push('earlier lives');
          return { ended: 2, left: [] };
        },
        endRun: async () => {
          order.push('recover');
          return { ended: 1, left: 0 };
        },
      },
    });
    stage.workspaces.entries.push(leftBehind('2'));
    const { remove } = stage.workspaces.as;
    Object.assign(stage.workspaces.as, {
      remove: (...parts: Parameters<typeof remove>) => {
        order.push('cleanup');
        return remove(...parts);
      },
    });
    await stage.store.commands.submit({
      id: 'c',
      project: stage.project,
      kind: 'nonsense',
      payload: {},
      author: person,
      at: 0,
      key: null,
    });
    const { finish } = stage.store.commands;
    stage.store.commands.finish = (...parts) => {
      order.push('command');
      return finish(...parts);
    };
    stage.orchestrator.onChange(() => {
      if (stage.orchestrator.read().polling.ticks > 0 && !order.includes('tick')) order.push('tick');
    });
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(order.toSorted()).toEqual(['cleanup', 'command', 'earlier lives', 'recover', 'tick']);
    expect(order.slice(0, 3)).toEqual(['earlier lives', 'recover', 'command']);
    expect(stage.clock.monotonic()).toBe(0);
    expect(stage.workspaces.removed).toEqual(['/workspaces/T-2']);
  });

  // @conforms 2.17
  it('continues when the finished issues cannot be read, and logs it', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    stage.workspaces.entries.push(leftBehind('9'));
    const { fetchByStates } = stage.tracker;
    stage.tracker.fetchByStates = async (states, signal) => {
      if (states.includes('Done')) throw new BatonError('tracker_status', 'HTTP 502');
      return fetchByStates.call(stage.tracker, states, signal);
    };
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['1']);
    expect(stage.logger.lines.filter(({ level }) => level === 'warn')).toMatchObject([
      { event: 'finished_issues_unreadable' },
    ]);
  });

  it('does not wait for a slow cleanup, and no run of a cleaned issue starts meanwhile', async () => {
    const slow = gate();
    const stage = await scene({
      issues: [issue({ id: '1', state: 'Done' }), issue({ id: '2' })],
      settings: settings({ intervalMs: 100 }),
    });
    stage.workspaces.entries.push(leftBehind('1'));
    stage.workspaces.answers.wait = slow.passed;
    await stage.orchestrator.start();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['2']);
    await stage.tracker.changes.moveIssue('1', 'Todo', person);
    await stage.clock.advance(1_000);
    expect(stage.started()).toEqual(['2']);
    expect(stage.orchestrator.read().skipped).toMatchObject([{ reason: { code: 'cleaning' } }]);
    slow.open();
    await stage.clock.advance(0);
    expect(stage.started()).toEqual(['2', '1']);
  });

  // @conforms tick.3
  it.each([[null], ['an unknown run']])('fails while a process of %s survives', async (runId) => {
    const stage = await scene({
      issues: [issue({ id: '1' })],
      processes: { endLeftovers: async () => ({ ended: 0, left: [{ runId }] }) },
    });
    await expect(stage.orchestrator.start()).rejects.toMatchObject({ code: 'agent_survives' });
    await stage.clock.advance(60_000);
    expect(stage.started()).toEqual([]);
    await stage.orchestrator.stop();
    expect(stage.clock.pending).toBe(0);
  });

  // @conforms tick.3
  it('continues when the surviving processes belong to a known run, whose issue is held', async () => {
    const first = await begun();
    first.kill();
    const [run] = await first.store.runs.unfinished(first.project);
    const stage = await begun({
      store: first.store,
      issues: [issue({ id: '1' }), issue({ id: '2' })],
      processesLeft: 1,
      processes: { endLeftovers: async () => ({ ended: 0, left: [{ runId: run?.runId ?? null }] }) },
    });
    expect(stage.started()).toEqual(['2']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_survives' }]);
  });

  // @conforms tick.4
  it('warns which limits are switched off', async () => {
    const stage = await begun({ settings: settings({ limits: { tokensPerIssue: 0 }, agent: { maxRetries: 0 } }) });
    const told = stage.logger.lines.filter(({ event }) => event === 'limit_off');
    expect(told.map(({ level, fields }) => [level, fields.limit])).toEqual([
      ['warn', 'limits.tokens_per_issue'],
      ['warn', 'agent.max_retries'],
    ]);
  });

  it('waits at most a few seconds for commands that need a slow tracker', async () => {
    const stage = await scene({ issues: [issue({ id: '1' })] });
    await stage.store.commands.submit({
      id: 'c',
      project: stage.project,
      kind: 'issue_hold',
      author: person,
      at: 0,
      key: null,
      payload: { issue: 'no-such-issue' },
    });
    const { fetchByIds } = stage.tracker;
    stage.tracker.fetchByIds = () => new Promise(() => {});
    let isStarted = false;
    const starting = stage.orchestrator.start().then(() => {
      isStarted = true;
    });
    await stage.clock.advance(4_999);
    expect(isStarted).toBe(false);
    await stage.clock.advance(1);
    await starting;
    stage.tracker.fetchByIds = fetchByIds.bind(stage.tracker);
    await stage.clock.advance(1);
    expect(stage.started()).toEqual(['1']);
    // A tracker that never answers does not block the commands forever.
    await stage.clock.advance(150_000);
    expect(await stage.store.commands.waiting(stage.project, 10)).toEqual([]);
    expect(await stage.command('pause')).toMatchObject({ status: 'done' });
  });
});
