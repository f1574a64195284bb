import { describe, expect, it } from 'vitest';
import { hostSays, type PullRecord } from '../../../src/pulls/github/pull-record.ts';

const [head, older] = ['a', 'b'].map((digit) => digit.repeat(40)) as [string, string];

function record(branch: string | null, listed: string): PullRecord {
  return {
    state: 'OPEN',
    headRef: branch === null ? null : { target: { oid: branch } },
    commits: { nodes: [{ commit: { oid: listed, statusCheckRollup: null } }] },
  } as unknown as PullRecord;
}

describe('the checks that GitHub lists', () => {
  it('are none where the newest commit has none', () => {
    expect(hostSays(record(head, head)).checks).toEqual([]);
  });

  it('are not known while GitHub lists an older commit than that of the branch', () => {
    expect(hostSays(record(head, older)).checks).toMatchObject([{ id: null, result: null, isRequired: false }]);
  });

  it('are none where the branch is gone', () => {
    expect(hostSays(record(null, older)).checks).toEqual([]);
  });
});
