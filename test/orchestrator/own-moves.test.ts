import { describe, expect, it } from 'vitest';
import { begun } from './scene.ts';

describe('a run that moves its own issue', () => {
  it('by a tool of the tracker to an unknown state may finish as well', async () => {
    const stage = await begun();
    stage.runs[0]?.request.report({ kind: 'moved', to: null });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'run', runId: 'r' });
    await stage.clock.advance(10_000);
    expect(stage.runs[0]?.stops).toEqual([]);
    await stage.clock.advance(60_000);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
  });

  // @conforms tools.3
  it('and was refused has not moved it: another user did', async () => {
    const stage = await begun();
    const { report } = stage.runs[0]?.request ?? {};
    report?.({ kind: 'moved', to: 'Backlog' });
    report?.({ kind: 'not_moved' });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'orchestrator' });
    await stage.clock.advance(1_000);
    expect(stage.runs[0]?.stops).toEqual(['inactive_state']);
  });

  it('and was refused a second move keeps the first', async () => {
    const stage = await begun();
    const { report } = stage.runs[0]?.request ?? {};
    report?.({ kind: 'moved', to: 'Backlog' });
    report?.({ kind: 'moved', to: 'Nowhere' });
    report?.({ kind: 'not_moved' });
    await stage.tracker.changes.moveIssue('1', 'Backlog', { kind: 'run', runId: 'r' });
    await stage.clock.advance(1_000);
    expect(stage.runs[0]?.stops).toEqual([]);
  });
});
