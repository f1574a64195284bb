import { describe, expect, it } from 'vitest';
import { BatonError } from '../../src/core/baton-error.ts';
import type { Issue } from '../../src/core/issue/issue.ts';
import { issue } from '../fake/issues.ts';
import { settings } from '../fake/settings.ts';
import { telling } from '../telling.ts';
import { scene } from './scene.ts';

const quick = settings({ intervalMs: 100 });
const person = { kind: 'person', name: 'me' } as const;
const startedOf = (stage: Awaited<ReturnType<typeof scene>>) => stage.runs.map(({ request }) => request.issue.id);

async function begun(options: Parameters<typeof scene>[0] = {}) {
  const stage = await scene({ settings: quick, issues: [issue({ id: '1' })], ...options });
  await stage.orchestrator.start();
  await stage.clock.advance(0);
  return stage;
}

describe('between two awaits', () => {
  // @conforms board.15
  it('an issue that was released during a tracker read is read again before it starts', async () => {
    const stage = await begun();
    const stale = await stage.tracker.fetchByStates(['Todo']);
    const { promise, resolve: answer } = Promise.withResolvers<readonly Issue[]>();
    const { fetchByStates } = stage.tracker;
    stage.tracker.fetchByStates = () => promise;
    await stage.clock.advance(100);
    await stage.tracker.changes.moveIssue('1', 'Done', person);
    stage.runs[0]?.succeed();
    await stage.clock.advance(1_000);
    stage.tracker.fetchByStates = fetchByStates.bind(stage.tracker);
    answer(stale);
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual(['1']);
  });

  it('a reload never makes a held issue free in between', async () => {
    const stage = await begun({ issues: [] });
    stage.tracker.put(issue({ id: '7' }));
    await stage.command('issue_hold', { issue: '7' });
    const { transaction } = stage.store;
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    stage.store.transaction = async (work) => {
      await promise;
      return transaction(work);
    };
    stage.orchestrator.reload();
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual([]);
    goOn();
    await stage.clock.advance(1_000);
    expect(startedOf(stage)).toEqual([]);
    expect(stage.orchestrator.read().held).toHaveLength(1);
  });

  it('a reload that cannot read the store changes nothing and ends no run', async () => {
    const stage = await begun();
    stage.store.transaction = async () => {
      throw new BatonError('store_busy', 'busy');
    };
    stage.orchestrator.reload();
    await stage.clock.advance(0);
    expect(stage.orchestrator.read().running).toHaveLength(1);
    expect(stage.logger.lines.find(({ event }) => event === 'background_work_failed')?.fields).toMatchObject({
      what: 'reload',
    });
  });

  it('a run that is stopped before it began does not begin', async () => {
    const stage = await scene({ settings: quick, issues: [issue({ id: '1' })] });
    await stage.orchestrator.start();
    const { transaction } = stage.store;
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    stage.store.transaction = async (work) => {
      await promise;
      return transaction(work);
    };
    await stage.clock.advance(0);
    const stopping = stage.orchestrator.stop();
    await stage.clock.advance(0);
    goOn();
    await stopping;
    expect(stage.runs).toEqual([]);
    const [run] = await stage.store.runs.list(stage.project, { limit: 1 });
    expect(run?.finish?.outcome).toBe('interrupted');
  });
});

describe('an agent that could not be ended', () => {
  const surviving = async () => {
    const stage = await begun();
    stage.runs[0]?.fail('agent_survives');
    await stage.clock.advance(200);
    return stage;
  };

  // @conforms board.14
  it('keeps its issue held, wherever the issue is moved', async () => {
    const stage = await surviving();
    for (const state of ['Backlog', 'Todo', 'Done', 'Todo']) {
      await stage.tracker.changes.moveIssue('1', state, person);
      await stage.clock.advance(500);
    }
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().held).toMatchObject([{ code: 'agent_survives' }]);
  });

  it('releases its issue when a person confirms that it is gone', async () => {
    const stage = await surviving();
    expect(await stage.command('issue_release', { issue: '1' })).toMatchObject({ status: 'done' });
    await stage.clock.advance(0);
    expect(startedOf(stage)).toEqual(['1', '1']);
  });

  it('keeps its hold when a person had asked to hold the issue', async () => {
    const stage = await begun();
    await stage.command('issue_hold', { issue: '1' });
    stage.runs[0]?.fail('agent_survives');
    await stage.clock.advance(0);
    expect(await stage.store.held.list(stage.project)).toMatchObject([{ code: 'agent_survives' }]);
  });
});

describe('after a kill', () => {
  it('processes of the previous daemon are ended before anything starts, and their runs end as interrupted', async () => {
    const first = await begun();
    const [left] = await first.store.runs.list(first.project, { limit: 1 });
    const second = await scene({ settings: quick, issues: [issue({ id: '1' })], store: first.store });
    await second.orchestrator.start();
    expect(second.swept).toEqual([left?.runId]);
    expect(second.runs).toEqual([]);
    expect((await first.store.runs.read(left?.runId ?? ''))?.finish).toMatchObject({
      outcome: 'interrupted',
      errorCode: 'orchestrator_restarted',
    });
    await second.clock.advance(0);
    expect(startedOf(second)).toEqual(['1']);
  });

  it('an issue whose earlier agent cannot be ended is held, not started', async () => {
    const first = await begun();
    const second = await begun({ store: first.store, processesLeft: 2 });
    await second.clock.advance(1_000);
    expect(startedOf(second)).toEqual([]);
    expect(second.orchestrator.read().held).toMatchObject([{ code: 'agent_survives', issue: { id: '1' } }]);
  });
});

describe('a stop', () => {
  it('waits until a hold is written', async () => {
    const stage = await begun();
    const { transaction } = stage.store;
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    stage.store.transaction = async (work) => {
      await promise;
      return transaction(work);
    };
    stage.runs[0]?.fail('agent_input_required');
    await stage.clock.advance(0);
    let stopped = false;
    const stopping = stage.orchestrator.stop().then(() => {
      stopped = true;
    });
    await stage.clock.advance(0);
    expect(stopped).toBe(false);
    goOn();
    await stopping;
    expect(await stage.store.held.list(stage.project)).toHaveLength(1);
  });

  it('leaves the remaining commands to the next daemon', async () => {
    const stage = await begun();
    const waiting = ['a', 'b', 'c'].map((id) => ({
      id,
      project: stage.project,
      kind: 'pause',
      payload: {},
      author: person,
      at: 0,
      key: null,
    }));
    for (const draft of waiting) await stage.store.commands.submit(draft);
    const { finish } = stage.store.commands;
    stage.store.commands.finish = async (id, result) => {
      void stage.orchestrator.stop();
      return finish(id, result);
    };
    stage.orchestrator.wake();
    await stage.clock.advance(0);
    expect(await stage.store.commands.waiting(stage.project, 10)).toHaveLength(2);
    stage.runs[0]?.cancel();
  });
});

describe('on a tracker where a start moves the issue', () => {
  const withStartMove = async () => {
    const limits = settings({ intervalMs: 100, agent: { maxConcurrentAgentsByState: { 'in progress': 1 } } });
    const stage = await scene({ settings: limits, issues: ['1', '2', '3'].map((id) => issue({ id })) });
    Object.assign(stage.tracker, { startMove: { from: 'Todo', to: 'In Progress' } });
    return stage;
  };

  it('the limit of the target state applies', async () => {
    const stage = await withStartMove();
    await stage.orchestrator.start();
    await stage.clock.advance(500);
    expect(startedOf(stage)).toEqual(['1']);
    expect(stage.orchestrator.read().running[0]?.issue.state).toBe('In Progress');
    expect(stage.orchestrator.read().skipped.map(({ reason }) => reason)).toContainEqual({
      code: 'state_full',
      text: telling('"In Progress"', 1),
    });
  });

  it('a move that fails for another reason than a refusal waits for its backoff', async () => {
    const stage = await withStartMove();
    stage.tracker.changes.moveIssue = async () => {
      throw new BatonError('store_constraint', 'odd');
    };
    await stage.orchestrator.start();
    await stage.clock.advance(5_000);
    expect(stage.orchestrator.read().totals.runs).toBeLessThanOrEqual(3);
    expect(stage.orchestrator.read().retrying.length).toBeGreaterThan(0);
  });

  it('a refused move releases the issue', async () => {
    const stage = await withStartMove();
    stage.tracker.changes.moveIssue = async (id) => {
      stage.tracker.remove(id);
      throw new BatonError('board_move_refused', 'somebody moved it');
    };
    await stage.orchestrator.start();
    await stage.clock.advance(1_000);
    expect(stage.runs).toEqual([]);
    expect(stage.orchestrator.read()).toMatchObject({ retrying: [], held: [] });
  });
});
