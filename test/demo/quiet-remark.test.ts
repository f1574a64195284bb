import { describe, expect, it } from 'vitest';
import type { IssueRow } from '../../demo/issue-rows.ts';
import { quietRemark } from '../../demo/quiet-remark.ts';

const rows = (...statuses: IssueRow['status'][]): IssueRow[] =>
  statuses.map((status, index) => ({
    identifier: `W-${index + 1}`,
    title: '',
    state: '',
    status,
    detail: '',
    phase: null,
    code: null,
    until: null,
  }));

describe('the remark that a demo is quiet', () => {
  it('comes once when no agent works, with what waits for the person, and again when that is something else', () => {
    const remark = quietRemark(() => false);
    const waits = (...statuses: IssueRow['status'][]): unknown => remark(rows(...statuses))?.json.waits_for_you;
    expect(waits('done', 'running')).toBeUndefined();
    expect(waits('done', 'retrying')).toBeUndefined();
    expect(waits('review', 'asking', 'done')).toEqual(['W-1', 'W-2']);
    expect(waits('review', 'asking', 'done')).toBeUndefined();
    expect(waits('done', 'asking', 'done')).toEqual(['W-2']);
    expect(waits('done', 'done', 'done')).toEqual([]);
    // An issue in the backlog waits for no one.
    expect(waits('done', 'review', 'backlog')).toEqual(['W-2']);
  });

  it('does not come while the demo itself decides about a change', () => {
    const remark = quietRemark((identifier) => identifier === 'W-1');
    expect(remark(rows('review', 'review'))).toBeNull();
    expect(remark(rows('done', 'review'))?.json).toEqual({ waits_for_you: ['W-2'] });
    expect(remark(rows('asking', 'done'))?.json).toEqual({ waits_for_you: ['W-1'] });
  });
});
