import { describe, expect, it } from 'vitest';
import { createIssueNews } from '../../dashboard/data/issue/issue-news.ts';
import { createRunNews } from '../../dashboard/data/run/run-news.ts';
import type { Patch, StreamEvent } from '../../src/client/schema/event.ts';

const patch = (facts: Pick<Partial<Patch>, 'set' | 'drop' | 'project'>): StreamEvent => ({
  name: 'patch',
  data: { project: 'demo', at: '2026-01-01T00:00:00.000Z', set: {}, drop: {}, ...facts },
});
const row = (more: object = {}) => ({
  key: 'run1',
  run_id: 'run1',
  issue_id: 'i1',
  issue_identifier: 'BAT-1',
  stage: 'streaming_turn',
  turn: 1,
  ...more,
});

describe('reading an issue again', () => {
  it('happens when its run starts, ends or reaches a new turn, not with each message of the agent', () => {
    const isNews = createIssueNews('demo', 'BAT-1', undefined);
    expect(isNews(patch({ set: { running: [row()] } }))).toBe(true);
    expect(isNews(patch({ set: { running: [row({ last_message: 'reads' })] } }))).toBe(false);
    expect(isNews(patch({ set: { running: [row({ turn: 2 })] } }))).toBe(true);
    expect(isNews(patch({ set: { running: [row({ turn: 2, waits_for_person: true })] } }))).toBe(true);
    expect(isNews(patch({ drop: { running: ['run1'] } }))).toBe(true);
    expect(isNews(patch({ drop: { running: ['run1'] } }))).toBe(false);
  });

  it('happens when the issue changed, by its id or its identifier', () => {
    const changed = { project: 'demo', issue_id: 'i1', issue_identifier: 'BAT-1' };
    for (const issue of ['i1', 'BAT-1'])
      expect(createIssueNews('demo', issue, undefined)({ name: 'issue_changed', data: changed })).toBe(true);
    expect(createIssueNews('demo', 'i2', undefined)({ name: 'issue_changed', data: changed })).toBe(false);
  });

  it('does not happen for another issue, or the same identifier in another project', () => {
    const isNews = createIssueNews('demo', 'BAT-2', undefined);
    expect(isNews(patch({ set: { running: [row()] }, drop: { waiting: ['run1'] } }))).toBe(false);
    expect(createIssueNews('demo', 'i1', undefined)(patch({ project: 'web', set: { running: [row()] } }))).toBe(false);
  });
});

describe('reading a run again', () => {
  it('happens at a new turn, at its end, and otherwise now and then', () => {
    let now = 0;
    const isNews = createRunNews('demo', 'run1', () => now);
    expect(isNews(patch({ set: { running: [row()] } }))).toBe(true);
    now = 4_000;
    expect(isNews(patch({ set: { running: [row({ last_message: 'a' })] } }))).toBe(false);
    expect(isNews(patch({ set: { running: [row({ turn: 2 })] } }))).toBe(true);
    now = 9_000;
    expect(isNews(patch({ set: { running: [row({ turn: 2 })] } }))).toBe(true);
    expect(isNews(patch({ drop: { running: ['run2'] } }))).toBe(false);
    expect(isNews(patch({ drop: { running: ['run1'] } }))).toBe(true);
  });

  it('happens when its issue changed', () => {
    const isNews = createRunNews('demo', 'run1', () => 0);
    isNews(patch({ set: { running: [row()] } }));
    const data = { project: 'demo', issue_id: 'i1', issue_identifier: 'BAT-1' };
    expect(isNews({ name: 'issue_changed', data })).toBe(true);
    expect(isNews({ name: 'issue_changed', data: { ...data, issue_id: 'i2' } })).toBe(false);
  });
});
