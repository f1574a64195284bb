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

describe('when an issue is read again', () => {
  it('is when its run begins, comes to another turn, or ends; not with each word of the agent', () => {
    const isNews = createIssueNews('demo', 'BAT-1', undefined);
    expect(isNews(patch({ set: { running: [row()] } }))).toBe(true);
    expect(isNews(patch({ set: { running: [row({ last_message: 'reads' })] } }))).toBe(false);
    expect(isNews(patch({ set: { running: [row({ turn: 2 })] } }))).toBe(true);
    expect(isNews(patch({ set: { running: [row({ turn: 2, waits_for_person: true })] } }))).toBe(true);
    expect(isNews(patch({ drop: { running: ['run1'] } }))).toBe(true);
    expect(isNews(patch({ drop: { running: ['run1'] } }))).toBe(false);
  });

  it('is when something else about it changed, by its id or its identifier', () => {
    const changed = { project: 'demo', issue_id: 'i1', issue_identifier: 'BAT-1' };
    for (const issue of ['i1', 'BAT-1'])
      expect(createIssueNews('demo', issue, undefined)({ name: 'issue_changed', data: changed })).toBe(true);
    expect(createIssueNews('demo', 'i2', undefined)({ name: 'issue_changed', data: changed })).toBe(false);
  });

  it('is not for another issue, nor for the same name in another project', () => {
    const isNews = createIssueNews('demo', 'BAT-2', undefined);
    expect(isNews(patch({ set: { running: [row()] }, drop: { waiting: ['run1'] } }))).toBe(false);
    expect(createIssueNews('demo', 'i1', undefined)(patch({ project: 'web', set: { running: [row()] } }))).toBe(false);
  });
});

describe('when a run is read again', () => {
  it('is at a new turn and at its end, and else now and then', () => {
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

  it('is when something about its issue changed', () => {
    const isNews = createRunNews('demo', 'run1', () => 0);
    isNews(patch({ set: { running: [row()] } }));
    const data = { project: 'demo', issue_id: 'i1', issue_identifier: 'BAT-1' };
    expect(isNews({ name: 'issue_changed', data })).toBe(true);
    expect(isNews({ name: 'issue_changed', data: { ...data, issue_id: 'i2' } })).toBe(false);
  });
});
